// Deterministic operands of the instruction probe; no dependencies.
//
// An element is value(spec, k, j): operand k, element j of n * per[k]. A spec
// names up to four operands by kind:
//   i8 i16 i32 i64      integers: edge table, then mixed random
//   sh                  32-bit shift count or bit position
//   f16 bf16 f32 f64    floats: edge table, then mixed random
//   f32d                f32 with a dense sweep of mantissas
//   i16x2 f16x2 bf16x2  two of the scalar kind; the high half is the scalar of
//                       index (j + 977) % n
//   raw8 raw16 raw32 raw64  hash        zero  0        idx  j
//   mod<N>  hash % N        bit  0 or 1
//   laneb lanec wmask wbit wval32 wval64 perm16
//                       for collectives, by warp (j / 32) and lane
//   mA:<t> mB:<t> mC:<t>  registers of mma fragments, t in f16 bf16 (two to a
//                       register) tf32 f32 f64 i8 e4m3 e5m2 i32; the class of
//                       numbers is warp % 8, see mmaElement()
// Hash: H(seed, stream, i) = mix(mix(mix(seed) + stream) + i), mix = the step
// and output function of splitmix64.
// Edges: the first product-of-radices elements cross the operands' tables
// (operand 0 fastest); a table is cut to its first 36 / 11 / 6 entries with
// 2 / 3 / 4 operands that have one (bit: 2 entries). After that every operand
// is drawn from its whole table in one element out of 8, else by its kind's
// random rule.
#pragma once
#include <cstdint>
#include <cstring>
#include <initializer_list>
namespace instr {
using u64 = uint64_t;
inline u64 mix(u64 x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
inline u64 H(u64 seed, u64 stream, u64 i) {
  return mix(mix(mix(seed) + stream) + i);
}
inline u64 ones(int w) { return w >= 64 ? ~u64(0) : (u64(1) << w) - 1; }

struct Fmt {
  int eb, mb;
};
inline constexpr Fmt F16{5, 10}, BF16{8, 7}, F32{8, 23}, F64{11, 52};
inline u64 pack(Fmt f, u64 sign, u64 e, u64 m) {
  return sign << (f.eb + f.mb) | (e & ones(f.eb)) << f.mb | (m & ones(f.mb));
}
inline u64 emax(Fmt f) { return ones(f.eb); }
inline u64 bias(Fmt f) { return ones(f.eb - 1); }
// a double, truncated to the format; too large becomes the largest finite
// number
inline u64 trunc(Fmt f, double d) {
  u64 b;
  memcpy(&b, &d, 8);
  u64 s = b >> 63;
  int64_t e = int64_t(b >> 52 & 2047) - 1023;
  u64 m = b & ones(52);
  if (e == -1023)
    return pack(f, s, 0, 0);
  int64_t E = e + int64_t(bias(f));
  if (E >= int64_t(emax(f)))
    return pack(f, s, emax(f) - 1, ones(f.mb));
  if (E > 0)
    return pack(f, s, u64(E), m >> (52 - f.mb));
  m |= u64(1) << 52;
  int64_t sh = 52 - f.mb + 1 - E;
  return pack(f, s, 0, sh > 63 ? 0 : m >> sh);
}
// edges: 36 by construction, then these
inline constexpr double extra[] = {1.5,
                                   3.5,
                                   -0.5,
                                   -2.5,
                                   0.25,
                                   100,
                                   127,
                                   127.5,
                                   128,
                                   -128,
                                   -128.5,
                                   -129,
                                   255,
                                   255.5,
                                   256,
                                   32767,
                                   32767.5,
                                   32768,
                                   -32768,
                                   -32768.5,
                                   -32769,
                                   65504,
                                   65519,
                                   65520,
                                   65535,
                                   65535.5,
                                   65536,
                                   2147483647,
                                   2147483647.5,
                                   2147483648.0,
                                   -2147483648.0,
                                   -2147483649.0,
                                   2147483520,
                                   4294967295.0,
                                   4294967295.5,
                                   4294967296.0,
                                   4294967040.0,
                                   9223372036854775808.0,
                                   9223372036854774784.0,
                                   9223371487098961920.0,
                                   -9223372036854775808.0,
                                   -9223372036854777856.0,
                                   18446744073709551616.0,
                                   18446744073709549568.0,
                                   18446742974197923840.0,
                                   448,
                                   464,
                                   465,
                                   480,
                                   57344,
                                   61440,
                                   61441,
                                   0.015625,
                                   0.001953125,
                                   0.0009765625,
                                   0.0009766,
                                   6.103515625e-05,
                                   1.52587890625e-05,
                                   7.62939453125e-06,
                                   3.14159265,
                                   6.2831853,
                                   1.57079633,
                                   88.7,
                                   -87.3,
                                   126,
                                   -126,
                                   -149,
                                   -150,
                                   127.99,
                                   0.7,
                                   16777217.0,
                                   33554434.0,
                                   9007199254740993.0,
                                   1e-40,
                                   -1e-39,
                                   5e-45,
                                   3e38,
                                   7.5,
                                   12345.678};
inline constexpr int nFloatEdges = 36 + sizeof extra / sizeof *extra;
inline u64 floatEdge(Fmt f, int j) {
  u64 B = bias(f), E = emax(f), top = u64(1) << (f.mb - 1), all = ones(f.mb);
  int mb = f.mb;
  switch (j) {
  case 0:
    return pack(f, 0, 0, 0);
  case 1:
    return pack(f, 1, 0, 0);
  case 2:
    return pack(f, 0, E, 0);
  case 3:
    return pack(f, 1, E, 0);
  case 4:
    return pack(f, 0, E, top | 5);
  case 5:
    return pack(f, 1, E, top >> 1 | 2); // quiet, signalling
  case 6:
    return pack(f, 0, B, 0);
  case 7:
    return pack(f, 1, B, 0);
  case 8:
    return pack(f, 0, 0, 1);
  case 9:
    return pack(f, 0, 1, 0);
  case 10:
    return pack(f, 0, E - 1, all);
  case 11:
    return pack(f, 1, 0, all);
  case 12:
    return pack(f, 0, B, 1);
  case 13:
    return pack(f, 0, B - 1, all);
  case 14:
    return pack(f, 0, B + 1, 0);
  case 15:
    return pack(f, 0, B - 1, 0);
  case 16:
    return pack(f, 1, B, top);
  case 17:
    return pack(f, 0, B + 1, top >> 1); // -1.5, 2.5
  case 18:
    return pack(f, 1, E - 1, all);
  case 19:
    return pack(f, 1, 0, 1);
  case 20:
    return pack(f, 1, 1, 0);
  case 21:
    return pack(f, 0, B - mb - 1, 0); // half an ulp of 1
  case 22:
    return pack(f, 0, B - mb - 1, 1);
  case 23:
    return pack(f, 1, B - mb - 2, 0);
  case 24:
    return pack(f, 0, B + mb, 0);
  case 25:
    return pack(f, 0, B + mb, all);
  case 26:
    return pack(f, 0, E, all);
  case 27:
    return pack(f, 1, E, all);
  case 28:
    return pack(f, 0, E, 1);
  case 29:
    return pack(f, 1, E, top);
  case 30:
    return pack(f, 0, 1, 1);
  case 31:
    return pack(f, 0, E - 2, all);
  case 32:
    return pack(f, 0, B + 1, top);
  case 33:
    return trunc(f, 1.0 / 3);
  case 34:
    return pack(f, 0, 0, all);
  case 35:
    return pack(f, 0, 0, 2);
  }
  return trunc(f, extra[j - 36]);
}
inline u64 floatRandom(Fmt f, u64 seed, int k, u64 i) {
  u64 r = H(seed, k, i), s = H(seed, 16, i), t = H(seed, 32 + k, i),
      B = bias(f);
  u64 sign = r >> 63, m = r & ones(f.mb), e = t;
  if ((t >> 60) < 4)
    m &= ~ones(f.mb - 3); // few bits: ties
  switch (s & 7) {
  case 0:
    e = t & emax(f);
    break; // any, infinity and NaN too
  case 1:
  case 2:
    e = B + t % 9 - 4;
    break; // near 1
  case 3: {
    u64 span = u64(f.mb) + 4 < emax(f) / 2 ? u64(f.mb) + 4 : emax(f) / 2;
    e = (s >> 20) % (emax(f) - span) + t % span;
    break;
  } // one magnitude anywhere
  case 4:
    return trunc(f, double(int64_t(t % 401) - 200) / 2); // halves
  case 5: { // products about the least normal number
    u64 e0 = 1 + (s >> 20) % (B + B / 2), low = t % (u64(f.mb) + 4);
    e = k == 0 ? e0 : k == 2 ? low : B + 3 > e0 + low ? B + 3 - e0 - low : 0;
    break;
  }
  case 6:
    e = t & 1;
    break; // denormal, least normal
  case 7:
    e = B + t % (2 * u64(f.mb) + 6) - (u64(f.mb) + 3);
    break; // wide
  }
  return pack(f, sign, e, m);
}
inline u64 intEdge(int w, int j, int &n) {
  u64 a = ones(w), t[64];
  int c = 0;
  auto put = [&](u64 x) { t[c++] = x & a; };
  u64 top = u64(1) << (w - 1);
  for (u64 x : {u64(0),     u64(1),
                a,          top,
                top - 1,    u64(2),
                a - 1,      top + 1,
                u64(w),     u64(0x55) * 0x0101010101010101u,
                u64(7),     u64(3),
                u64(w - 1), u64(w + 1),
                u64(2 * w), u64(0xAA) * 0x0101010101010101u,
                u64(0xff),  u64(0x80),
                u64(0x7f),  u64(10),
                u64(100),   ~u64(6),
                ~u64(0x7f), top >> 1,
                a - 0xff})
    put(x);
  if (w >= 16)
    for (u64 x : {u64(0x8000), u64(0x7fff), u64(0x100), ~u64(0xff),
                  u64(0x0102030405060708u), u64(0x8001), u64(1000)})
      put(x);
  if (w >= 32)
    for (u64 x : {u64(0xffff), u64(0x10000), u64(0xffffff), u64(0x800000),
                  u64(0xff000000u), ~u64(0x7fff), u64(0x7fffff)})
      put(x);
  if (w >= 64)
    for (u64 x : {u64(0xffffffffu), u64(0x80000000u), u64(0x7fffffffu),
                  u64(0x100000000u), ~u64(0x7fffffff), ~u64(0xffffffffu),
                  u64(0x1fffffffffffff)})
      put(x);
  n = c;
  return t[j];
}
inline u64 intRandom(int w, u64 seed, int k, u64 i) {
  u64 r = H(seed, k, i), s = H(seed, 16, i), t = H(seed, 32 + k, i), x = r;
  switch (s & 7) {
  case 1:
    x = (r & ones(w)) >> (t % w);
    break;
  case 2:
    x = ~((r & ones(w)) >> (t % w));
    break;
  case 3:
    x = r & t & s;
    break;
  case 4:
    x = (u64(1) << (t % w)) + (r % 3) - 1;
    break;
  case 5:
    x = r % 256 - 128;
    break;
  case 7:
    x = s * 0x9E3779B97F4A7C15u + r % 5 - 2;
    break;
  }
  return x & ones(w);
}
inline constexpr u64 shiftEdges[] = {
    0,   1,   31,         32,         33,    63,     64, 16, 255, 0xffffffff,
    8,   15,  17,         7,          24,    47,     48, 65, 96,  127,
    128, 256, 0x7fffffff, 0x80000000, 0x100, 0x1f00, 30, 62, 4,   2};
inline constexpr int nShiftEdges = sizeof shiftEdges / sizeof *shiftEdges;

struct Spec {
  const char *kind[4] = {"", "", "", ""};
  int per[4] = {1, 1, 1, 1};
  int nk = 0;
  u64 seed = 0, n = 0;
};
inline bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }
inline bool starts(const char *a, const char *b) {
  return strncmp(a, b, strlen(b)) == 0;
}
inline bool format(const char *k, Fmt &f) {
  if (starts(k, "f16"))
    f = F16;
  else if (starts(k, "bf16"))
    f = BF16;
  else if (starts(k, "f32"))
    f = F32;
  else if (starts(k, "f64"))
    f = F64;
  else
    return false;
  return true;
}
inline int width(const char *k) {
  int w = 0;
  if (*k == 'i' && k[1] >= '0' && k[1] <= '9')
    for (++k; *k >= '0' && *k <= '9'; ++k)
      w = w * 10 + *k - '0';
  return w;
}
inline int table(const char *k) { // size of the kind's edge table
  Fmt f;
  int n = 0;
  if (format(k, f))
    return nFloatEdges;
  if (width(k)) {
    intEdge(width(k), 0, n);
    return n;
  }
  if (is(k, "sh"))
    return nShiftEdges;
  return is(k, "bit") ? 2 : 0;
}
inline u64 edge(const char *k, int j) {
  Fmt f;
  int n = 0;
  if (format(k, f))
    return floatEdge(f, j);
  if (width(k))
    return intEdge(width(k), j, n);
  return is(k, "sh") ? shiftEdges[j] : u64(j);
}
inline u64 scalar(const Spec &p, int k, u64 i) {
  const char *kind = p.kind[k];
  Fmt f;
  int size = table(kind);
  if (size) {
    int level = 0;
    for (int q = 0; q < p.nk; ++q)
      level += table(p.kind[q]) > 2;
    const int limit = level <= 1 ? 1000 : level == 2 ? 36 : level == 3 ? 11 : 6;
    u64 stride = 1, product = 1;
    for (int q = 0; q < p.nk; ++q) {
      int s = table(p.kind[q]);
      if (!s)
        continue;
      u64 r = s < limit ? s : limit;
      if (q < k)
        stride *= r;
      product *= r;
    }
    u64 mine = size < limit ? size : limit;
    if (i < product)
      return edge(kind, int(i / stride % mine));
    if ((H(p.seed, 16, i) >> 8) % 8 == u64(k))
      return edge(kind, int(H(p.seed, 48 + k, i) % size));
  }
  u64 r = H(p.seed, k, i);
  if (is(kind, "f32d") && (i & 1))
    return pack(F32, H(p.seed, 33, i) & 1,
                127 + H(p.seed, 34, i) % 12 - 8 +
                    (H(p.seed, 35, i) % 4 ? 0 : 6),
                i * (u64(1) << 23) / p.n + r % 1024);
  if (format(kind, f))
    return floatRandom(f, p.seed, k, i);
  if (width(kind))
    return intRandom(width(kind), p.seed, k, i);
  if (is(kind, "sh"))
    return r >> 62 ? (r >> 8) % 72 : r & 0xffffffff;
  return r & 1;
}
// Registers of mma fragments. Class c = warp % 8:
// 0 one magnitude; 1 exponents +-8; 2 wild exponents; 3 products cancel in
// pairs (k, k+1 in one register; for 32-bit elements registers r and r + half
// of an operand); 4 sparse powers of two; 5 denormals, products that
// underflow; 6 as 0 with 5% of zeros, infinities, NaN, extremes; 7 as 0, but C
// many binades larger or smaller.
inline u64 mmaElement(const Spec &p, int k, u64 warp, u64 where, char role,
                      Fmt f) {
  u64 r = H(p.seed, k, where), t = H(p.seed, 32 + k, where), c = warp % 8,
      B = bias(f), sign = r >> 63, m = (r >> 5) & ones(f.mb), e;
  int64_t wild = f.eb == 5 ? 13 : 30;
  bool C = role == 'C';
  switch (c) {
  case 1:
    e = B + t % 17 - 8;
    break;
  case 2:
    e = B + t % (2 * wild + 1) - wild;
    break;
  case 3:
    e = C ? B - 12 + t % 14 : B + t % 5 - 2;
    break;
  case 4:
    if (t % 8 < 5 && !(C && t % 2))
      return 0;
    e = B + (t >> 8) % (wild * 3 / 2) - wild * 3 / 4;
    m = 0;
    break;
  case 5:
    e = f.eb == 5 ? (C ? t % 20 : t % 6)
        : C       ? (f.mb == 7 ? t % 30 : t % 12)
                  : (t % 16 ? B - 70 + t % 20 : 0);
    break;
  case 6:
    e = B + t % 3 - 1;
    if (t >> 32 & 15)
      break;
    {
      u64 q = (t >> 40) % 8;
      return q < 2    ? pack(f, q, 0, 0)
             : q < 4  ? pack(f, q & 1, emax(f), 0)
             : q == 4 ? pack(f, 0, emax(f), ones(f.mb) >> 1)
             : q == 5 ? pack(f, sign, emax(f), ones(f.mb) / 2 + 1)
             : q == 6 ? pack(f, sign, emax(f) - 1, ones(f.mb))
                      : pack(f, sign, 0, m);
    }
  case 7:
    e = C ? B + (wild == 13 ? t % 25 - 12 : t % 61 - 30) : B + t % 3 - 1;
    break;
  default:
    e = B + t % 3 - 1;
    break;
  }
  return pack(f, sign, e, m);
}
inline u64 mma(const Spec &p, int k, u64 j) {
  const char *kind = p.kind[k], *t = kind + 3;
  char role = kind[1];
  int per = p.per[k];
  Fmt f;
  u64 warp = j / per / 32;
  if (is(t, "i8") || is(t, "e4m3") || is(t, "e5m2") || is(t, "i32")) {
    u64 r = H(p.seed, k, j), s = H(p.seed, 32 + k, j);
    switch (warp % 4) {
    case 1: // extremes; fp8: one magnitude
      if (is(t, "i8"))
        r = 0x7f7f7f7fu ^ (s & 0x01010101u) * 0xff;
      if (is(t, "e4m3"))
        r = (r & 0x87878787u) | 0x38383838u;
      if (is(t, "e5m2"))
        r = (r & 0x83838383u) | 0x3c3c3c3cu;
      break;
    case 2:
      r = is(t, "i32") ? (r & 1 ? 0x7fffffff - r % 7 : 0x80000000 + r % 7)
                       : r & 0x07070707u;
      break;
    }
    return r & 0xffffffff;
  }
  if (is(t, "f16") || is(t, "bf16")) {
    f = is(t, "f16") ? F16 : BF16;
    u64 lo = mmaElement(p, k, warp, 2 * j, role, f),
        hi = mmaElement(p, k, warp, 2 * j + 1, role, f);
    if (warp % 8 == 3 && role == 'A')
      hi = (lo ^ u64(1) << 15) ^ (H(p.seed, 40, j) % 4 == 0);
    if (warp % 8 == 3 && role == 'B')
      hi = lo;
    return lo | hi << 16;
  }
  format(is(t, "tf32") ? "f32" : t, f);
  u64 where = j, flip = 0;
  if (warp % 8 == 3 && role != 'C' && per > 1 && int(j % per) >= per / 2) {
    where = j - per / 2;
    if (role == 'A')
      flip = u64(1) << (f.eb + f.mb) ^
             (H(p.seed, 40, j) % 4 == 0 ? u64(1) << (f.mb - 10) : 0);
  }
  return mmaElement(p, k, warp, where, role, f) ^ flip;
}
inline u64 value(const Spec &p, int k, u64 j) {
  const char *kind = p.kind[k];
  u64 r = H(p.seed, k, j), lane = j % 32, w = j / 32, q = H(p.seed, 64 + k, w);
  if (is(kind, "zero"))
    return 0;
  if (is(kind, "idx"))
    return j;
  if (starts(kind, "raw"))
    return is(kind, "raw8")    ? r & 0xff
           : is(kind, "raw16") ? r & 0xffff
           : is(kind, "raw32") ? r & 0xffffffff
                               : r;
  if (starts(kind, "mod")) {
    u64 n = 0;
    for (const char *c = kind + 3; *c; ++c)
      n = n * 10 + u64(*c - '0');
    return r % n;
  }
  if (is(kind, "laneb"))
    return w % 4 == 0   ? q % 33
           : w % 4 == 1 ? r % 32
           : w % 4 == 2 ? r % 64
                        : r & 0xffffffff;
  if (is(kind, "lanec")) {
    constexpr u64 t[] = {0x1f,   0,      0x101f, 0x181f, 0x1c1f, 0x1e1f,
                         0x1f1f, 0x1000, 0x1800, 0x1c00, 0x1e00, 0x1c03};
    u64 c = w / 4 % 16;
    return c < 12    ? t[c]
           : c < 14  ? q & 0x1fff
           : c == 14 ? r & 0x1fff
                     : r & 0xffffffff;
  }
  if (is(kind, "wmask"))
    return (w % 5 == 0   ? 0xffffffff
            : w % 5 == 1 ? 0x55555555
            : w % 5 == 2 ? q & 0xffffffff
            : w % 5 == 3 ? q & q >> 32
                         : 0) |
           u64(1) << (q >> 40 & 31);
  if (is(kind, "wbit"))
    return w % 5 == 0   ? 0
           : w % 5 == 1 ? 1
           : w % 5 == 2 ? lane == q % 32
           : w % 5 == 3 ? lane != q % 32
                        : r & 1;
  if (is(kind, "wval32") || is(kind, "wval64")) {
    u64 x = w % 5 == 0   ? q
            : w % 5 == 1 ? H(p.seed, 65, r % 3)
            : w % 5 == 2 ? r % 32
            : w % 5 == 3 ? (lane == q % 32 ? ~q : q)
                         : r;
    return is(kind, "wval32") ? x & 0xffffffff : x;
  }
  if (is(kind, "perm16"))
    return r % 32 * 16;
  if (kind[0] == 'm')
    return mma(p, k, j);
  size_t len = strlen(kind);
  if (len > 2 && is(kind + len - 2, "x2")) {
    u64 lo = scalar(p, k, j), hi = scalar(p, k, (j + 977) % p.n);
    return lo | hi << 16;
  }
  return scalar(p, k, j);
}
} // namespace instr

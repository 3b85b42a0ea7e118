//===- select.cpp - one of two by a third ---------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/floats.h"

namespace mtc::ptx {
namespace {

constexpr std::initializer_list<Type> kSelected = {
    Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64,
    Type::s16, Type::s32, Type::s64, Type::f32, Type::f64};

template <class S> bool selp(Warp &warp, const Instruction &i) {
  const S *a = warp.slots<S>(i.from[0]), *b = warp.slots<S>(i.from[1]);
  uint32_t mask = warp.mask(i.from[2]) ^ (i.flag ? ~0u : 0);
  eachLane<S>(warp, i.to[0],
              [&](int l) { return mask >> l & 1 ? a[l] : b[l]; });
  return true;
}

/// The first where c is not negative; a NaN is taken for negative, -0 is not.
template <class S, class C> bool slct(Warp &warp, const Instruction &i) {
  const S *a = warp.slots<S>(i.from[0]), *b = warp.slots<S>(i.from[1]);
  const uint32_t *c = warp.slots<uint32_t>(i.from[2]);
  eachLane<S>(warp, i.to[0], [&](int l) {
    return comparable(fromSlot<C>(c[l])) >= 0 ? a[l] : b[l];
  });
  return true;
}

} // namespace

void decodeSelp(Builder &b) {
  Type type = b.expectType(kSelected);
  b.out.run = bytesOf(type) == 8 ? selp<uint64_t> : selp<uint32_t>;
  b.endModifiers();
  b.to(type);
  b.from(type);
  b.from(type);
  b.fromPredicate();
  b.endOperands();
}

void decodeSlct(Builder &b) {
  bool flush = b.take("ftz");
  Type type = b.expectType(kSelected);
  Type by = b.expectType({Type::s32, Type::f32});
  if (flush) {
    b.flushesToZero();
    if (by != Type::f32)
      b.problem("slct: .ftz is of .f32");
  }
  bool wide = bytesOf(type) == 8;
  if (by == Type::s32)
    b.out.run = wide ? slct<uint64_t, int32_t> : slct<uint32_t, int32_t>;
  else if (flush)
    b.out.run =
        wide ? slct<uint64_t, FlushedFloat> : slct<uint32_t, FlushedFloat>;
  else
    b.out.run = wide ? slct<uint64_t, float> : slct<uint32_t, float>;
  b.endModifiers();
  b.to(type);
  b.from(type);
  b.from(type);
  b.from(by);
  b.endOperands();
}

} // namespace mtc::ptx

//===- instructions.cuh - PTX instructions of attention ---------*- C++ -*-===//
//
// One function per instruction. Shared memory is addressed by 32 bits.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_INSTRUCTIONS_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_INSTRUCTIONS_CUH

#include "runtime/cuda/common/device.cuh"

#include <cstdint>

namespace mtc::cuda {

/// c += a·b of 16 x 16 and 16 x 8 elements; a and b as ldmatrix gives them.
template <Element E>
MTC_DEVICE void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                    uint32_t b1) {
  if constexpr (E == Element::bf16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Two values, each rounded to nearest even; `low` in the low half.
template <Element E> MTC_DEVICE uint32_t pack(float low, float high) {
  uint32_t both;
  if constexpr (E == Element::bf16)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

/// 2^x within 2 ulp; a result that is not normal is zero.
MTC_DEVICE float exp2Fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Four matrices of 8 x 8; lane i gives the address of row i mod 8 of matrix
/// i / 8.
MTC_DEVICE void loadMatrices(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
MTC_DEVICE void loadTransposed(uint32_t (&r)[4], uint32_t address) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(address)
      : "memory");
}

/// Copies 16 bytes, or writes 16 zeros if there are none to copy.
MTC_DEVICE void copyAsync16(uint32_t to, const void *from, bool exists) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
               "l"(from), "r"(exists ? 16 : 0)
               : "memory");
}
MTC_DEVICE void copyAsync4(uint32_t to, const void *from, bool exists) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to),
               "l"(from), "r"(exists ? 4 : 0)
               : "memory");
}
/// Copies of this thread so far are one group.
MTC_DEVICE void commitCopies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// All but the last `Left` groups are in shared memory, for this thread.
template <int Left> MTC_DEVICE void waitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}
MTC_DEVICE void store32(uint32_t to, uint32_t x) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(x) : "memory");
}
MTC_DEVICE uint4 load128(uint32_t from) {
  uint4 x;
  asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "r"(from)
               : "memory");
  return x;
}
MTC_DEVICE float2 loadPair(uint32_t from) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];"
               : "=f"(x.x), "=f"(x.y)
               : "r"(from)
               : "memory");
  return x;
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_INSTRUCTIONS_CUH

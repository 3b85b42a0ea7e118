//===- instructions.cuh - products of a warpgroup ---------------*- C++ -*-===//
//
// wgmma of sm_90a: four warps multiply 64 rows, of which warp w has the 16 from
// 16·w on; of its registers the sums lie as those of mma (products.cuh). They
// run beside what comes behind them until they are awaited, and read shared
// memory by a path of their own, which sees what was written before a fence.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_WGMMA_INSTRUCTIONS_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_WGMMA_INSTRUCTIONS_CUH

#include "runtime/cuda/common/device.cuh"

#include <cstdint>

namespace mtc::cuda {

/// What this thread wrote to shared memory is there for wgmma, once a barrier
/// is behind this.
MTC_DEVICE void showToProducts() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Products so far are one group.
MTC_DEVICE void commitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// All but the last `Left` groups are done. Their sums may be read behind
/// `use`.
template <int Left> MTC_DEVICE void waitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Left) : "memory");
}
/// Keeps what reads or writes these registers on its side of a wait or fence.
template <int N> MTC_DEVICE void use(float (&c)[N][4]) {
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      asm volatile("" : "+f"(c[n][e])::"memory");
}
template <int N, int E> MTC_DEVICE void use(uint32_t (&a)[N][E]) {
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int e = 0; e < E; ++e)
      asm volatile("" : "+r"(a[n][e])::"memory");
}
/// In front of products by these registers, sums and left operands, which other
/// instructions wrote: none of them may come behind this.
template <class... Registers>
MTC_DEVICE void beginProducts(Registers &...registers) {
  (use(registers), ...);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// A tile in shared memory whose rows are 128 bytes, permuted as tiles.cuh has
/// it, which is what the ISA calls a swizzle of 128 bytes: groups of eight rows
/// lie 1024 bytes apart. The tile begins at a multiple of that.
MTC_DEVICE uint64_t tileOf(uint32_t address) {
  constexpr uint64_t kSwizzle128 = uint64_t(1) << 62;
  constexpr uint64_t kGroups = uint64_t(1024 >> 4) << 32;
  constexpr uint64_t kUnused = uint64_t(1) << 16;
  return kSwizzle128 | kGroups | kUnused | ((address & 0x3ffff) >> 4);
}
/// From its column 16·k on, and from its row 16·k on.
MTC_DEVICE uint64_t columnsFrom(uint64_t tile, int k) {
  return tile + uint64_t(k * 32 >> 4);
}
MTC_DEVICE uint64_t rowsFrom(uint64_t tile, int k) {
  return tile + uint64_t(k * 16 * 128 >> 4);
}

#define MTC_WGMMA_SUMS                                                         \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,"    \
  "%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
#define MTC_WGMMA_ROW(n)                                                       \
  "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
#define MTC_WGMMA_C                                                            \
  MTC_WGMMA_ROW(0), MTC_WGMMA_ROW(1), MTC_WGMMA_ROW(2), MTC_WGMMA_ROW(3),      \
      MTC_WGMMA_ROW(4), MTC_WGMMA_ROW(5), MTC_WGMMA_ROW(6), MTC_WGMMA_ROW(7)
#define MTC_WGMMA(type)                                                        \
  "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " "

/// c = a·bᵀ, or c += it with `adds`: 64 x 16 and 64 x 16 elements of tiles.
template <Element E>
MTC_DEVICE void multiplyTiles(float (&c)[8][4], uint64_t a, uint64_t b,
                              bool adds) {
#define MTC_TEXT(type)                                                         \
  "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n" MTC_WGMMA(type) MTC_WGMMA_SUMS  \
      ", %32, %33, p, 1, 1, 0, 0;\n}"
  if constexpr (E == Element::bf16)
    asm volatile(MTC_TEXT("bf16")
                 : MTC_WGMMA_C
                 : "l"(a), "l"(b), "r"(int(adds)));
  else
    asm volatile(MTC_TEXT("f16")
                 : MTC_WGMMA_C
                 : "l"(a), "l"(b), "r"(int(adds)));
#undef MTC_TEXT
}

/// The same with a in registers, as ldmatrix gives it.
template <Element E>
MTC_DEVICE void multiplyTile(float (&c)[8][4], const uint32_t (&a)[4],
                             uint64_t b, bool adds) {
#define MTC_TEXT(type)                                                         \
  "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n" MTC_WGMMA(type) MTC_WGMMA_SUMS  \
      ", {%32,%33,%34,%35}, %36, p, 1, 1, 0;\n}"
  if constexpr (E == Element::bf16)
    asm volatile(MTC_TEXT("bf16")
                 : MTC_WGMMA_C
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),
                   "r"(int(adds)));
  else
    asm volatile(MTC_TEXT("f16")
                 : MTC_WGMMA_C
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),
                   "r"(int(adds)));
#undef MTC_TEXT
}

/// c += a·b with a in registers and b 16 x 64 elements of a tile.
template <Element E>
MTC_DEVICE void addTile(float (&c)[8][4], const uint32_t (&a)[4], uint64_t b) {
#define MTC_TEXT(type)                                                         \
  MTC_WGMMA(type) MTC_WGMMA_SUMS ", {%32,%33,%34,%35}, %36, 1, 1, 1, 1;"
  if constexpr (E == Element::bf16)
    asm volatile(MTC_TEXT("bf16")
                 : MTC_WGMMA_C
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
  else
    asm volatile(MTC_TEXT("f16")
                 : MTC_WGMMA_C
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#undef MTC_TEXT
}

#undef MTC_WGMMA
#undef MTC_WGMMA_C
#undef MTC_WGMMA_ROW
#undef MTC_WGMMA_SUMS

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_WGMMA_INSTRUCTIONS_CUH

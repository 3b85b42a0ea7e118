// 64x64x64 products by wgmma: what nvcc makes of tiles by cp.async, a swizzle
// of 128 bytes, and B K-major or, as the values of attention, N-major.
// warpgroup.ptx: nvcc 13.0.88 -std=c++17 -arch=compute_90a -ptx
#include <cstdint>
#include <cuda_bf16.h>

static constexpr int kRows = 64, kThreads = 128, kTile = 64 * 128; // bytes

static __device__ uint32_t sharedAddress(const void *at) {
  return uint32_t(__cvta_generic_to_shared(at));
}

// A row of 128 bytes is eight chunks, of which chunk c stands at c ^ (row % 8).
static __device__ void load(uint32_t to, const __nv_bfloat16 *from) {
  for (int k = int(threadIdx.x); k < kRows * 8; k += kThreads) {
    int row = k / 8, chunk = k % 8;
    uint32_t at = to + uint32_t(row * 128 + ((chunk ^ (row % 8)) * 16));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at),
                 "l"(from + row * 64 + chunk * 8)
                 : "memory");
  }
}

static __device__ uint64_t descriptor(uint32_t at, uint32_t leading,
                                      uint32_t stride) {
  return uint64_t((at & 0x3ffff) >> 4) | uint64_t(leading >> 4) << 16 |
         uint64_t(stride >> 4) << 32 | uint64_t(1) << 62;
}

template <int TransposedB>
static __device__ void multiply(float (&d)[32], uint64_t a, uint64_t b,
                                int scaleD) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
      "%30, %31}, %32, %33, p, 1, 1, 0, %35; }\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
        "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]),
        "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
        "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]),
        "+f"(d[31])
      : "l"(a), "l"(b), "r"(scaleD), "n"(TransposedB));
}

extern __shared__ __align__(1024) unsigned char tiles[];

template <int TransposedB>
static __device__ void product(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                               float *out) {

  uint32_t aTile = sharedAddress(tiles), bTile = aTile + kTile;
  load(aTile, a);
  load(bTile, b);
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float d[32];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int k = 0; k < 4; ++k)
    multiply<TransposedB>(
        d, descriptor(aTile + uint32_t(k * 32), 16, 1024),
        TransposedB ? descriptor(bTile + uint32_t(k * 2048), 8192, 1024)
                    : descriptor(bTile + uint32_t(k * 32), 16, 1024),
        k > 0);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  int row = int(threadIdx.x) / 32 * 16 + int(threadIdx.x) % 32 / 4;
  int column = int(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int i = 0; i < 32; ++i)
    out[(row + i / 2 % 2 * 8) * 64 + column + i / 4 * 8 + i % 2] = d[i];
}

extern "C" __global__ void __launch_bounds__(kThreads)
    product_k_major(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                    float *out) {
  product<0>(a, b, out);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    product_n_major(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                    float *out) {
  product<1>(a, b, out);
}

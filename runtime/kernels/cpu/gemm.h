//===- gemm.h - the GEMMs of one rank ---------------------------*- C++ -*-===//
//
// Row-major products of fp32, bf16 or f16, each by what its row names: oneDNN's
// matmul or inner_product, created once at start with the caller's scratchpad
// (onednn_calls.h), or a kernel of our own (gemm_own.h). Sums are in fp32. Bits
// depend on that, on the instruction set and, of oneDNN's, on the threads per
// rank, all of which belong to the plan.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_H

#include "mtc/runtime/descriptor.h"
#include "runtime/base/status.h"
#include "runtime/kernels/cpu/second_level.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mtc::runtime {

struct NormSum;

/// c[m,n] = op(a)·op(b) + beta·c, dense and row-major. op(a) is [m,k]: `a` is
/// stored [m,k], or [k,m] if ta; op(b) is [k,n]: stored [k,n], or [n,k] if tb.
/// Legal types (ab, c): (F32, F32), and of BF16 and F16 (X, F32), (X, X). A c
/// of 16 bits is rounded once, to nearest even: with beta 1 the sum with what
/// it held.
struct GemmDesc {
  int64_t m = 0, n = 0, k = 0;
  bool ta = false, tb = false;
  int beta = 0; ///< 0 or 1
  MtcDtype ab = MTC_F32, c = MTC_F32;
  GemmKernel kernel = GemmKernel::library; ///< what computes it
  /// The squares of what c then holds are added to a sum of `execute`: of a
  /// kernel of our own, and c of F32.
  bool counts = false;
};

/// op(b) of products, [k, n]: stored [k, n], or [n, k] if tb.
struct PackedDesc {
  int64_t n = 0, k = 0;
  bool tb = false;
  MtcDtype type = MTC_F32;
};

/// What continues a product by a kernel of our own: MtcTile of abi.h.
struct GemmThen {
  MtcTile call = nullptr; ///< null: nothing does
  void *argument = nullptr;
};

/// Holds oneDNN to the instruction set of the plan, one of kIsas, in this
/// process. Call before anything else of this file; a second call must name the
/// same one. Errors: usage for another name or a late, different choice;
/// infeasible if this CPU lacks it. oneDNN has products of f32 under x86-64-v4
/// and of bf16 as well under x86-64-v4-bf16 and x86-64-v4-amx
/// (isPlannedByLibrary). It has none of f16: operands are widened into the
/// scratch, which is exact, and multiplied in fp32. The kernel of our own has
/// all types under each instruction set.
Status gemmSelectIsa(std::string_view isa);

/// Scratch bytes of one product for `threads` threads under the chosen
/// instruction set, in *bytes. Errors: usage for a bad description; infeasible
/// where oneDNN has no kernel of it by the rule below.
Status gemmScratchBytes(const GemmDesc &desc, int threads, int64_t *bytes);

/// Whether oneDNN computes a legal product, by matmul or by inner_product as it
/// says, by kernels of packed blocks (brgemm), whose memory is all in the
/// scratch, under the chosen instruction set. What it has else, under x86-64-v3
/// or of bf16 under x86-64-v4 (2.6.3), allocates up to some MiB in each call,
/// or is for reference: no plan has it.
bool isPlannedByLibrary(const GemmDesc &desc, int threads);

/// Bytes of what gemmPack makes under `isa`, one of kIsas: a function of n, k
/// and the type, 64-aligned. Errors: usage for sizes below 1, for a type of no
/// product, or for no such instruction set.
Status gemmPackedBytes(const PackedDesc &desc, std::string_view isa,
                       int64_t *bytes);

/// Packs op(b) for products by GemmKernel::ownPacked of its n, k and type,
/// whatever their m and threads, which then need not do it: what is at `to`,
/// 64-aligned, is their b. On `threads` threads, under the chosen instruction
/// set; allocates nothing. Errors: as gemmPackedBytes.
Status gemmPack(const PackedDesc &desc, int threads, const void *b, void *to);

/// "2.6.3" and the commit: part of what a result depends on.
std::string gemmLibraryVersion();

/// The primitives of one rank. One thread at a time: each rank has its own set.
class GemmSet {
public:
  GemmSet();
  ~GemmSet();
  GemmSet(GemmSet &&) noexcept;
  GemmSet &operator=(GemmSet &&) noexcept;

  /// Creates the primitives of all rows for `threads` threads; replaces what
  /// was there. Errors: usage for a bad row or number of threads; infeasible
  /// for what oneDNN has no such kernel of, and where OpenMP has fewer threads
  /// for it.
  /// Those of our own are cut for `cache`.
  Status create(std::span<const GemmDesc> rows, int threads,
                SecondLevel cache = secondLevelHere());

  int64_t size() const;
  /// Scratch bytes of row `index`; `execute` needs that many, 64-aligned.
  int64_t scratchBytes(int64_t index) const;

  /// Runs row `index`; pointers to elements as in GemmDesc, but of ownPacked,
  /// whose `b` is what gemmPack made of it; `scratch` may be null where
  /// scratchBytes is 0. Allocates nothing itself (oneDNN allocates lists of at
  /// most 1 KiB). Sets the calling thread's OpenMP thread count if it differs
  /// and oneDNN computes. Calls `then` for blocks that have each element of c
  /// once, on the threads that made them. Of a row that counts, adds what
  /// normAccumulate would add of c to *squares. Errors: usage for a bad index,
  /// for `then` of a product of oneDNN's or of one that counts, and for one
  /// that counts without `squares`; failed, with oneDNN's code.
  Status execute(int64_t index, const void *a, const void *b, void *c,
                 void *scratch, GemmThen then = {}, NormSum *squares = nullptr);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_H

//===- gemm_own.h - products without a library ------------------*- C++ -*-===//
//
// Products of packed panels. A sum over k is made in blocks of k that depend on
// k and on the type alone: in a block terms ascend, one FMA each (in bf16 two,
// where the instruction set multiplies pairs), from zero; block by block these
// are added, the first to what c holds or to nothing. Neither the number of
// threads nor the shape of m and n, nor AVX2 or AVX-512, changes a bit of a
// product in fp32 or f16. One in bf16 has other bits with x86-64-v4-bf16 than
// without, where operands are widened.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_H

#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/gemm_own_table.h"

namespace mtc::runtime {

/// How a product is cut, and where its scratch has what. Extents of k are in
/// units (gemm_own_table.h), the others in rows and columns.
class OwnGemm {
public:
  /// For a legal product and `threads` of at least 1; `isa` is one of kIsas.
  /// Calls nothing of that instruction set.
  OwnGemm(const GemmDesc &desc, int threads, std::string_view isa);

  /// What `run` needs, 64-aligned: a function of what the constructor got.
  int64_t scratchBytes() const { return end * int64_t(sizeof(float)); }

  /// The processor must have the instruction set. Allocates nothing.
  void run(const void *a, const void *b, void *c, float *scratch) const;

private:
  /// A block of all rows, some columns and a part of k.
  struct Block {
    int64_t column, columns, unit, units;
  };
  int64_t units() const;
  int64_t firstElement(const Block &block) const;
  int64_t elements(const Block &block) const;
  void cutThreads(int threads);
  void packB(const Block &block, const void *b, float *scratch, int64_t part,
             int64_t parts) const;
  void packA(const Block &block, const void *a, int64_t firstRow, int64_t rows,
             float *to) const;
  void packAllOfA(const Block &block, const void *a, float *scratch,
                  int64_t part, int64_t parts) const;
  void multiply(const Block &block, const void *a, void *c, float *scratch,
                int64_t thread) const;
  BlockCall callOf(const Block &block, void *c, float *scratch) const;

  GemmDesc desc;
  const OwnKernels *kernels;
  int64_t threads;
  int64_t rowParts = 1, columnParts = 1; ///< of each block; as many as threads
  int64_t depth, width;                  ///< of the largest block
  bool sharesA; ///< all of op(a) is packed by the team, else by each thread
  int64_t partOfA = 0; ///< floats of each thread's, else of all
  int64_t aAt = 0, sumsAt = 0, end = 0; ///< floats; panels of b are at 0
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_H

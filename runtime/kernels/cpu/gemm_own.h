//===- gemm_own.h - products without a library ------------------*- C++ -*-===//
//
// Products of panels of op(b), which are packed, with rows of op(a): as memory
// has them, where units (gemm_own_table.h) lie along k there, else packed, too.
// A sum over k is made in blocks of k that depend on
// k and on the type alone: in a block terms ascend, one FMA each (in bf16 two,
// where the instruction set multiplies pairs), from zero; block by block these
// are added, the first to what c holds or to nothing. Neither the number of
// threads nor the shape of m and n, nor AVX2 or AVX-512, changes a bit of a
// product in fp32 or f16. One in bf16 has other bits with x86-64-v4-bf16, and
// with x86-64-v4-amx (gemm_own_amx.h), than with less, where operands are
// widened.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_H

#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/gemm_own_table.h"
#include "runtime/kernels/cpu/norm_counter.h"
#include "runtime/kernels/cpu/second_level.h"
#include "runtime/kernels/cpu/team.h"

#include <atomic>

namespace mtc::runtime {

/// Of these kernels, in tables of `mtc tune`. Raise it with each change here,
/// in gemm_own_*.cpp or in their units after which some products are faster or
/// slower than before (by more than the 0.98 of gemm_tuner.cpp): what tables
/// measured is then no longer true, and plans refuse them.
inline constexpr int64_t kOwnGemmVersion = 3;

/// How a product is cut, and where its scratch has what. Extents of k are in
/// units (gemm_own_table.h), the others in rows and columns.
class OwnGemm {
public:
  /// For a legal product and `threads` of at least 1; `isa` is one of kIsas.
  /// Calls nothing of that instruction set. No bit depends on the cache.
  OwnGemm(const GemmDesc &desc, int threads, std::string_view isa,
          SecondLevel cache = secondLevelHere());

  /// What `run` needs, 64-aligned: a function of the product, of threads and
  /// instruction set, enough for every cache, as plans are made elsewhere.
  int64_t scratchBytes() const { return most * int64_t(sizeof(float)); }

  /// Of op(b) as `pack` leaves it, 64-aligned: a function of n, k, the type and
  /// the instruction set.
  int64_t packedBytes() const;
  /// Packs op(b) for every product of its n, k, type and instruction set,
  /// whatever its m and threads: a block of k behind the other, in each the
  /// panels of all columns; then zeros up to the last byte. `to` is 64-aligned.
  void pack(const void *b, float *to) const;

  bool counts() const { return desc.counts; }

  /// The processor must have the instruction set. Allocates nothing. Blocks of
  /// which `then` is called begin at multiples of a panel's rows and columns. A
  /// product that counts has no `then` and adds to *squares; others leave it.
  void run(const void *a, const void *b, void *c, float *scratch,
           GemmThen then = {}, NormSum *squares = nullptr) const;

private:
  /// Some columns and a part of k.
  struct Block {
    int64_t column, columns, unit, units;
  };
  /// What one thread computes, all rows and columns of a range.
  struct Share {
    Part rows, columns;
  };
  /// What the product makes, and what continues it.
  struct Result {
    void *at;
    GemmThen then;
    NormCounter *counter; ///< of this thread; null: squares are not counted
  };
  struct Extent {
    int64_t rows, columns;
  };
  /// The first element of a call, and whether its sums are finished.
  struct Place {
    int64_t row, column;
    bool isLast;
  };
  int64_t units() const;
  bool isPacked() const;
  bool needsSums() const;
  void planFor(const OwnBlocks &blocks);
  void planOwnB();
  void planSharedB();
  void cutThreads(int64_t columns, bool preferRows);
  Share shareOf(int64_t thread, int64_t columns) const;
  int64_t tailOf() const;

  int64_t firstElement(const Block &block) const;
  int64_t elements(const Block &block) const;
  PackCall callToPackB(const Block &block, const void *b) const;
  PackCall callToPackA(const Block &block, const void *a, Part rows) const;
  void packA(const Block &block, const void *a, Part rows, float *to) const;
  void packAllOfA(int64_t unit, const void *a, float *scratch, int64_t part,
                  int64_t parts) const;
  Ahead aheadOf(const PackCall &next, const BlockCall &call) const;
  Ahead aheadOf(const Block &next, const void *b, const BlockCall &call) const;
  Ahead spread(const void *at, int64_t stride, int64_t rows, int64_t lines,
               const BlockCall &call) const;
  int64_t packedFloats() const;
  int64_t packedAt(const Block &block) const;
  float *packedBlock(const Block &block, const void *b) const;
  bool isLast(const Block &block) const;
  bool hasWholeLines(const Result &c) const;
  BlockCall callOf(const Block &block, const Result &c) const;
  BlockCall pieceOf(const BlockCall &call, int64_t row, int64_t column,
                    const Extent &most) const;
  template <typename Make>
  void inPieces(const BlockCall &call, const Extent &most, Make make) const;
  void multiplyAndCount(const BlockCall &call, NormCounter &counter) const;
  void multiply(const BlockCall &call, const Result &c, const Place &at) const;

  Block blockAt(Part columns, int64_t column, int64_t unit) const;
  bool packsAlong(const Block &block) const;
  void packOwn(const Block &block, const void *b, float *own) const;
  float *ownOf(float *scratch, int64_t thread) const;
  BlockCall callOfRows(const Block &block, Part rows, const void *a,
                       const Result &c, const float *scratch, float *own) const;
  void ownBlock(const Block &block, const Block &next, const Share &of,
                const void *a, const void *b, const Result &c, float *scratch,
                int64_t thread) const;
  void ownStripe(int64_t number, int64_t unit, const Share &of, const void *a,
                 const void *b, const Result &c, float *scratch,
                 int64_t thread) const;
  void runOwnB(const void *a, const void *b, const Result &c, float *scratch,
               int64_t part, int64_t parts) const;
  void runTail(const void *a, const void *b, const Result &c, float *scratch,
               int64_t part, std::atomic<int64_t> &taken) const;
  void sharedBlock(const Block &block, const void *a, const Result &c,
                   float *scratch, int64_t thread) const;
  void runSharedB(const void *a, const void *b, const Result &c, float *scratch,
                  int64_t part, int64_t parts) const;

  GemmDesc desc;
  const OwnKernels *kernels;
  const OwnBlocks *blocks = nullptr;
  int64_t threads;
  int64_t depth;     ///< of the largest block
  bool readsRows;    ///< of op(a), as memory has them
  bool ownsB;        ///< each thread packs the columns that it needs
  bool fillsWindows; ///< what counts squares in registers; else from memory
  int64_t rowParts = 1, columnParts = 1; ///< as many as threads
  int64_t width = 0;                     ///< of the largest block
  int64_t tail = 0; ///< the last columns, which are in no thread's share
  /// Columns whose sums wait together, a row of these; how many a thread has.
  int64_t stripe = 0, stripes = 1;
  /// Of the scratch, in floats: what the team packs is in front, then each
  /// thread's share, in it behind what it packs sums that c cannot hold.
  int64_t sharesAt = 0, sumsAt = 0, share = 0, end = 0;
  int64_t most = 0; ///< of `end`, for any cache
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_H

//===- gemm_own.cpp - products without a library --------------------------===//
#include "runtime/kernels/cpu/gemm_own.h"

#include "runtime/kernels/cpu/team.h"

namespace mtc::runtime {

namespace {

/// Blocks in units of k, rows and columns: a panel of op(b) and a block of
/// op(a) then fit the second-level cache of a core. kDepth is a part of the
/// order of sums: another one changes bits.
constexpr int64_t kDepth = 1024, kRows = 64, kColumns = 3072;

int64_t ceilDiv(int64_t x, int64_t by) { return (x + by - 1) / by; }
int64_t roundUp(int64_t x, int64_t to) { return ceilDiv(x, to) * to; }
/// Floats, so that what follows is 64-aligned.
int64_t aligned(int64_t floats) { return roundUp(floats, 16); }

/// The extent of equal blocks of at most `most`, a multiple of `unit`.
int64_t blockOf(int64_t extent, int64_t most, int64_t unit) {
  return roundUp(ceilDiv(extent, ceilDiv(extent, most)), unit);
}

const OwnKernels *kernelsOf(MtcDtype type, std::string_view isa) {
  const OwnKernelSet &set = isa == "x86-64-v4-bf16" ? kOwnV4Bf16
                            : isa == "x86-64-v4"    ? kOwnV4
                                                    : kOwnV3;
  return type == MTC_F32 ? &set.f32 : type == MTC_BF16 ? &set.bf16 : &set.f16;
}

int64_t bytesOf(MtcDtype type) { return type == MTC_F32 ? 4 : 2; }

template <typename T> T *offset(T *base, int64_t elements, MtcDtype type) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return static_cast<Byte *>(base) + elements * bytesOf(type);
}

} // namespace

OwnGemm::OwnGemm(const GemmDesc &desc, int threads, std::string_view isa)
    : desc(desc), kernels(kernelsOf(desc.ab, isa)), threads(threads),
      depth(blockOf(units(), kDepth, 8)),
      width(blockOf(desc.n, kColumns, kernels->columns)) {
  cutThreads(threads);
  bool oneBlockOfK = depth >= units(), oneBlock = width >= desc.n;
  // Where several threads, or several blocks, need the same rows of op(a).
  sharesA = columnParts > 1 || (oneBlockOfK && !oneBlock);
  partOfA =
      aligned(depth * (sharesA ? roundUp(desc.m, kPanelRows)
                               : std::min(kRows, roundUp(desc.m, kPanelRows))));
  aAt = aligned(depth * roundUp(std::min(width, desc.n), kernels->columns));
  sumsAt = aAt + partOfA * (sharesA ? 1 : threads);
  bool needsSums = desc.c != MTC_F32 && !oneBlockOfK;
  end = sumsAt + (needsSums ? aligned(desc.m * std::min(width, desc.n)) : 0);
}

int64_t OwnGemm::units() const {
  return ceilDiv(desc.k, kernels->elementsPerUnit);
}

/// As few panels as can be for the thread that has the most; among these as
/// many parts of rows as can be, for threads share the panels of op(b).
void OwnGemm::cutThreads(int threads) {
  int64_t rowPanels = ceilDiv(desc.m, kPanelRows),
          columnPanels = ceilDiv(std::min(width, desc.n), kernels->columns);
  int64_t least = -1;
  for (int64_t rows = threads; rows >= 1; --rows) {
    if (threads % rows != 0)
      continue;
    int64_t most =
        ceilDiv(rowPanels, rows) * ceilDiv(columnPanels, threads / rows);
    if (least < 0 || most < least) {
      least = most;
      rowParts = rows;
      columnParts = threads / rows;
    }
  }
}

int64_t OwnGemm::firstElement(const Block &block) const {
  return block.unit * kernels->elementsPerUnit;
}

int64_t OwnGemm::elements(const Block &block) const {
  return std::min(block.units * kernels->elementsPerUnit,
                  desc.k - firstElement(block));
}

void OwnGemm::packB(const Block &block, const void *b, float *scratch,
                    int64_t part, int64_t parts) const {
  Part columns = partOf(block.columns, part, parts, kernels->columns);
  if (columns.empty())
    return;
  int64_t k = firstElement(block), j = block.column + columns.begin;
  int64_t stride = desc.tb ? desc.k : desc.n;
  int64_t first = desc.tb ? j * stride + k : k * stride + j;
  kernels->pack({offset(b, first, desc.ab), stride, desc.tb,
                 columns.end - columns.begin, elements(block), kernels->columns,
                 scratch + columns.begin * block.units});
}

void OwnGemm::packA(const Block &block, const void *a, int64_t firstRow,
                    int64_t rows, float *to) const {
  int64_t k = firstElement(block), stride = desc.ta ? desc.m : desc.k;
  int64_t first = desc.ta ? k * stride + firstRow : firstRow * stride + k;
  kernels->pack({offset(a, first, desc.ab), stride, !desc.ta, rows,
                 elements(block), kPanelRows, to});
}

void OwnGemm::packAllOfA(const Block &block, const void *a, float *scratch,
                         int64_t part, int64_t parts) const {
  Part rows = partOf(desc.m, part, parts, kPanelRows);
  if (!rows.empty())
    packA(block, a, rows.begin, rows.end - rows.begin,
          scratch + aAt + rows.begin * block.units);
}

/// Of the whole block; the caller moves it to rows and columns of a part.
BlockCall OwnGemm::callOf(const Block &block, void *c, float *scratch) const {
  bool isFirst = block.unit == 0, isLast = block.unit + block.units >= units();
  bool isWide = desc.c == MTC_F32;
  BlockCall call{};
  call.depth = block.units;
  call.from = isFirst  ? (desc.beta == 1 ? Sums::inC : Sums::zero)
              : isWide ? Sums::inC
                       : Sums::inFloats;
  call.to = isLast || isWide ? Sums::inC : Sums::inFloats;
  call.floats = scratch + sumsAt;
  call.floatStride = std::min(width, desc.n);
  call.c = offset(c, block.column, desc.c);
  call.stride = desc.n;
  call.type = desc.c;
  return call;
}

void OwnGemm::multiply(const Block &block, const void *a, void *c,
                       float *scratch, int64_t thread) const {
  Part rows = partOf(desc.m, thread / columnParts, rowParts, kPanelRows),
       columns = partOf(block.columns, thread % columnParts, columnParts,
                        kernels->columns);
  if (columns.empty())
    return;
  float *own = scratch + aAt + (sharesA ? 0 : thread * partOfA);
  for (int64_t row = rows.begin; row < rows.end; row += kRows) {
    int64_t count = std::min(kRows, rows.end - row);
    if (!sharesA)
      packA(block, a, row, count, own);
    BlockCall call = callOf(block, c, scratch);
    call.a = sharesA ? own + row * block.units : own;
    call.b = scratch + columns.begin * block.units;
    call.rows = count;
    call.columns = columns.end - columns.begin;
    call.floats += row * call.floatStride + columns.begin;
    call.c = offset(call.c, row * call.stride + columns.begin, desc.c);
    kernels->multiply(call);
  }
}

void OwnGemm::run(const void *a, const void *b, void *c, float *scratch) const {
  onTeam(threads, [&](int64_t part, int64_t parts) {
    auto meet = [&] {
      if (parts > 1)
        teamMeets();
    };
    for (int64_t column = 0; column < desc.n; column += width)
      for (int64_t unit = 0; unit < units(); unit += depth) {
        Block block{column, std::min(width, desc.n - column), unit,
                    std::min(depth, units() - unit)};
        bool isFirst = column == 0 && unit == 0;
        if (!isFirst)
          meet(); // nobody reads the panels of the block before any more
        packB(block, b, scratch, part, parts);
        if (sharesA && (isFirst || depth < units()))
          packAllOfA(block, a, scratch, part, parts);
        meet();
        // OMP_THREAD_LIMIT may have given fewer threads than it was asked for.
        for (int64_t thread = part; thread < threads; thread += parts)
          multiply(block, a, c, scratch, thread);
      }
  });
}

} // namespace mtc::runtime

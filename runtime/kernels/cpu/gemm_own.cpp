//===- gemm_own.cpp - products without a library --------------------------===//
#include "runtime/kernels/cpu/gemm_own.h"
#include "runtime/kernels/cpu/gemm_own_extents.h"

#include <immintrin.h>
#include <mutex>

namespace mtc::runtime {

namespace {

/// Rows that are made before something continues them, beside some panels of
/// columns (OwnKernels::thenPanels), if a block has as many: so much of c, and
/// of what it makes of that, lies in a core's cache.
constexpr int64_t kThenRows = 64;
/// Rows of as many panels whose squares are counted in one window, at most.
constexpr int64_t kCountRows = 128;

int64_t bytesOf(MtcDtype type) { return type == MTC_F32 ? 4 : 2; }

template <typename T> T *offset(T *base, int64_t elements, MtcDtype type) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return static_cast<Byte *>(base) + elements * bytesOf(type);
}

void meet(int64_t parts) {
  if (parts > 1)
    teamMeets();
}

} // namespace

int64_t OwnGemm::firstElement(const Block &block) const {
  return block.unit * kernels->elementsPerUnit;
}

int64_t OwnGemm::elements(const Block &block) const {
  return std::min(block.units * kernels->elementsPerUnit,
                  desc.k - firstElement(block));
}

PackCall OwnGemm::callToPackB(const Block &block, const void *b) const {
  int64_t stride = desc.tb ? desc.k : desc.n, k = firstElement(block),
          first =
              desc.tb ? block.column * stride + k : k * stride + block.column;
  return {
      offset(b, first, desc.ab), stride,      desc.tb,          block.columns,
      elements(block),           block.units, kernels->columns, nullptr};
}

PackCall OwnGemm::callToPackA(const Block &block, const void *a,
                              Part rows) const {
  int64_t k = firstElement(block), stride = desc.ta ? desc.m : desc.k,
          first = desc.ta ? k * stride + rows.begin : rows.begin * stride + k;
  return {
      offset(a, first, desc.ab), stride,      !desc.ta,           rows.size(),
      elements(block),           block.units, kernels->panelRows, nullptr};
}

void OwnGemm::packA(const Block &block, const void *a, Part rows,
                    float *to) const {
  if (rows.empty())
    return;
  PackCall pack = callToPackA(block, a, rows);
  pack.to = to;
  kernels->packRows(pack);
}

/// One block of k, by the team.
void OwnGemm::packAllOfA(int64_t unit, const void *a, float *scratch,
                         int64_t part, int64_t parts) const {
  Block block{0, 0, unit, std::min(depth, units() - unit)};
  Part rows = partOf(desc.m, part, parts, kernels->panelRows);
  packA(block, a, rows, scratch + rows.begin * block.units);
  meet(parts);
}

/// `rows` of as many lines, spread over the end of `call`.
Ahead OwnGemm::spread(const void *at, int64_t stride, int64_t rows,
                      int64_t lines, const BlockCall &call) const {
  Ahead ahead{};
  ahead.at = static_cast<const char *>(at);
  ahead.stride = stride;
  ahead.lines = lines;
  ahead.left = rows * lines;
  int64_t takes = ceilDiv(call.rows, kernels->rows) *
                  ceilDiv(call.columns, kernels->columns) *
                  ceilDiv(call.depth, kChunk);
  ahead.each = ceilDiv(ahead.left, takes);
  ahead.wait = takes - ceilDiv(ahead.left, ahead.each);
  return ahead;
}

/// What `next` will read, spread over the end of `call`.
Ahead OwnGemm::aheadOf(const PackCall &next, const BlockCall &call) const {
  int64_t rows = next.alongK ? next.rows : next.depth,
          columns = next.alongK ? next.depth : next.rows;
  return spread(next.from, next.stride * bytesOf(desc.ab), rows,
                ceilDiv(columns * bytesOf(desc.ab), 64), call);
}

/// The same of a block of op(b).
Ahead OwnGemm::aheadOf(const Block &next, const void *b,
                       const BlockCall &call) const {
  if (!isPacked())
    return aheadOf(callToPackB(next, b), call);
  int64_t floats = next.units * roundUp(next.columns, kernels->columns);
  return spread(static_cast<const float *>(b) + packedAt(next), 0, 1,
                ceilDiv(floats, 16), call);
}

/// Of what is packed beforehand, in floats; a block begins with a panel.
int64_t OwnGemm::packedAt(const Block &block) const {
  return block.unit * roundUp(desc.n, kernels->columns) +
         block.column * block.units;
}

bool OwnGemm::isLast(const Block &block) const {
  return block.unit + block.units >= units();
}

/// Whether rows of each register block begin at lines of the result, which are
/// then written whole.
bool OwnGemm::hasWholeLines(const Result &c) const {
  int64_t steps = 4 * (desc.n | kernels->columns);
  return desc.c == MTC_F32 &&
         (reinterpret_cast<uintptr_t>(c.at) | steps) % 64 == 0;
}

/// Of all rows of the block; the caller moves it to a part, and says where its
/// sums are.
BlockCall OwnGemm::callOf(const Block &block, const Result &c) const {
  bool isFirst = block.unit == 0, isWide = desc.c == MTC_F32;
  BlockCall call{};
  call.depth = block.units;
  call.from = isFirst  ? (desc.beta == 1 ? Sums::inC : Sums::zero)
              : isWide ? Sums::inC
                       : Sums::inFloats;
  call.to = isLast(block) || isWide ? Sums::inC : Sums::inFloats;
  call.floatStride = stripe;
  call.c = offset(c.at, block.column, desc.c);
  call.stride = desc.n;
  call.type = desc.c;
  // What is counted behind the kernel is read again.
  call.streams = desc.kernel == GemmKernel::ownStreamed &&
                 call.from == Sums::zero && isLast(block) && hasWholeLines(c) &&
                 fillsWindows == desc.counts;
  return call;
}

OwnGemm::Block OwnGemm::blockAt(Part columns, int64_t column,
                                int64_t unit) const {
  return {column, std::min(width, columns.end - column), unit,
          std::min(depth, units() - unit)};
}

/// Rows and columns of `call` from `row` and `column` on, which begin a panel.
BlockCall OwnGemm::pieceOf(const BlockCall &call, int64_t row, int64_t column,
                           const Extent &most) const {
  BlockCall piece = call;
  int64_t units = call.aStride > 0 ? call.aStride : call.depth;
  piece.a = static_cast<const char *>(call.a) + 4 * row * units;
  piece.b = call.b + column * call.depth;
  piece.unpacked = call.unpacked && row == 0
                       ? offset(call.unpacked, column, desc.ab)
                       : nullptr;
  piece.rowsBefore = call.rowsBefore + row;
  piece.rows = std::min(most.rows, call.rows - row);
  piece.columns = std::min(most.columns, call.columns - column);
  piece.floats = call.floats + row * call.floatStride + column;
  piece.c = offset(call.c, row * call.stride + column, desc.c);
  return piece;
}

/// Pieces of `call`, of at most so many rows and columns, in the order that it
/// says.
template <typename Make>
void OwnGemm::inPieces(const BlockCall &call, const Extent &most,
                       Make make) const {
  if (call.byRows)
    for (int64_t i = 0; i < call.rows; i += most.rows)
      for (int64_t j = 0; j < call.columns; j += most.columns)
        make(pieceOf(call, i, j, most), i, j);
  else
    for (int64_t j = 0; j < call.columns; j += most.columns)
      for (int64_t i = 0; i < call.rows; i += most.rows)
        make(pieceOf(call, i, j, most), i, j);
}

/// Sums of c, which are finished, and their squares.
void OwnGemm::multiplyAndCount(const BlockCall &call,
                               NormCounter &counter) const {
  int64_t columns = kernels->thenPanels * kernels->columns;
  int64_t rows = kWindowValues / columns / kernels->rows * kernels->rows;
  Extent most{std::min(kCountRows, rows), columns};
  inPieces(call, most, [&](BlockCall piece, int64_t, int64_t) {
    if (fillsWindows)
      piece.window = &counter.begin();
    blocks->multiply(piece);
    if (!fillsWindows || !counter.end())
      counter.add(static_cast<float *>(piece.c), piece.stride, piece.rows,
                  piece.columns);
  });
}

/// Sums of c from element `at` on. Those that are finished are continued, piece
/// by piece.
void OwnGemm::multiply(const BlockCall &call, const Result &c,
                       const Place &at) const {
  if (at.isLast && c.counter)
    return multiplyAndCount(call, *c.counter);
  if (!at.isLast || !c.then.call)
    return blocks->multiply(call);
  Extent most{kThenRows, kernels->thenPanels * kernels->columns};
  inPieces(call, most, [&](const BlockCall &piece, int64_t i, int64_t j) {
    blocks->multiply(piece);
    int64_t row = at.row + i, column = at.column + j;
    c.then.call(c.then.argument, row, row + piece.rows, column,
                column + piece.columns);
  });
}

/// Whether the product packs the columns of a block as it reads them first.
bool OwnGemm::packsAlong(const Block &block) const {
  return readsRows && kernels->packsAlong && !desc.tb &&
         block.columns % kernels->columns == 0;
}

void OwnGemm::packOwn(const Block &block, const void *b, float *own) const {
  PackCall pack = callToPackB(block, b);
  pack.to = own;
  kernels->packColumns(pack);
}

/// A block of what was packed beforehand.
float *OwnGemm::packedBlock(const Block &block, const void *b) const {
  // Nobody writes there, as `unpacked` is null.
  return static_cast<float *>(const_cast<void *>(b)) + packedAt(block);
}

/// A thread's part of the scratch.
float *OwnGemm::ownOf(float *scratch, int64_t thread) const {
  return scratch + sharesAt + thread * share;
}

/// Of columns that are packed at `own`. The caller says where sums wait.
BlockCall OwnGemm::callOfRows(const Block &block, Part rows, const void *a,
                              const Result &c, const float *scratch,
                              float *own) const {
  BlockCall call = callOf(block, c);
  if (readsRows) {
    call.a = offset(a, rows.begin * desc.k + firstElement(block), desc.ab);
    call.aStride = desc.k / kernels->elementsPerUnit;
  } else {
    call.a = scratch + rows.begin * block.units;
  }
  call.byRows = readsRows || blocks->isByRows;
  call.b = own;
  call.rows = rows.size();
  call.columns = block.columns;
  call.floats = own + sumsAt;
  call.c = offset(call.c, rows.begin * call.stride, desc.c);
  return call;
}

void OwnGemm::ownBlock(const Block &block, const Block &next, const Share &of,
                       const void *a, const void *b, const Result &c,
                       float *scratch, int64_t thread) const {
  float *own = ownOf(scratch, thread);
  BlockCall call = callOfRows(block, of.rows, a, c, scratch, own);
  if (isPacked()) {
    call.b = packedBlock(block, b);
  } else if (packsAlong(block)) {
    PackCall pack = callToPackB(block, b);
    call.unpacked = pack.from;
    call.unpackedStride = pack.stride;
  } else {
    packOwn(block, b, own);
  }
  call.floats += (block.column - of.columns.begin) % stripe;
  Ahead ahead{};
  if (next.columns > 0) {
    ahead = aheadOf(next, b, call);
    call.ahead = &ahead;
  }
  multiply(call, c, {of.rows.begin, block.column, isLast(block)});
}

/// A block of k of a stripe of a thread's columns.
void OwnGemm::ownStripe(int64_t number, int64_t unit, const Share &of,
                        const void *a, const void *b, const Result &c,
                        float *scratch, int64_t thread) const {
  int64_t first = of.columns.begin + number * stripe;
  Part columns{first, std::min(first + stripe, of.columns.end)};
  for (int64_t column = first; column < columns.end; column += width) {
    Block block = blockAt(columns, column, unit),
          next = blockAt(columns, column + width, unit);
    if (next.columns <= 0 && unit + depth < units())
      next = blockAt(columns, first, unit + depth);
    else if (next.columns <= 0 && tail > 0)
      next = blockAt({desc.n - tail, desc.n}, desc.n - tail, unit);
    ownBlock(block, next, of, a, b, c, scratch, thread);
  }
}

void OwnGemm::runOwnB(const void *a, const void *b, const Result &c,
                      float *scratch, int64_t part, int64_t parts) const {
  for (int64_t number = 0; number < stripes; ++number)
    for (int64_t unit = 0; unit < units(); unit += depth) {
      if (!readsRows) {
        if (number > 0 || unit > 0)
          meet(parts); // nobody reads the panels of before any more
        packAllOfA(unit, a, scratch, part, parts);
      }
      for (int64_t thread = part; thread < threads; thread += parts) {
        Share of = shareOf(thread, desc.n - tail);
        if (!of.rows.empty())
          ownStripe(number, unit, of, a, b, c, scratch, thread);
      }
    }
}

/// Pieces of the tail until all are `taken`. Who makes a piece changes no bit.
void OwnGemm::runTail(const void *a, const void *b, const Result &c,
                      float *scratch, int64_t part,
                      std::atomic<int64_t> &taken) const {
  int64_t pieces = ceilDiv(desc.m, kTailRows), first = desc.n - tail,
          end = pieces * ceilDiv(tail, width), packed = -1;
  float *own = ownOf(scratch, part);
  for (int64_t i; (i = taken.fetch_add(1)) < end;) {
    int64_t number = i / pieces, row = i % pieces * kTailRows;
    Block block = blockAt({first, desc.n}, first + number * width, 0);
    if (packed != number && !isPacked())
      packOwn(block, b, own);
    packed = number;
    Part rows{row, std::min(row + kTailRows, desc.m)};
    BlockCall call = callOfRows(block, rows, a, c, scratch, own);
    if (isPacked())
      call.b = packedBlock(block, b);
    multiply(call, c, {row, block.column, true});
  }
}

void OwnGemm::sharedBlock(const Block &block, const void *a, const Result &c,
                          float *scratch, int64_t thread) const {
  auto [rows, columns] = shareOf(thread, block.columns);
  if (columns.empty())
    return;
  float *own = ownOf(scratch, thread);
  const int64_t step = blocks->ownRows;
  for (int64_t row = rows.begin; row < rows.end; row += step) {
    Part some{row, std::min(row + step, rows.end)};
    packA(block, a, some, own);
    BlockCall call = callOf(block, c);
    call.a = own;
    call.b = scratch + columns.begin * block.units;
    call.rows = some.size();
    call.columns = columns.size();
    call.floats = own + sumsAt + (row - rows.begin) * stripe + columns.begin;
    call.c = offset(call.c, row * call.stride + columns.begin, desc.c);
    Part next{row + step, std::min(row + 2 * step, rows.end)};
    Ahead ahead{};
    if (!next.empty()) {
      ahead = aheadOf(callToPackA(block, a, next), call);
      call.ahead = &ahead;
    }
    multiply(call, c, {row, block.column + columns.begin, isLast(block)});
  }
}

void OwnGemm::runSharedB(const void *a, const void *b, const Result &c,
                         float *scratch, int64_t part, int64_t parts) const {
  for (int64_t column = 0; column < desc.n; column += width)
    for (int64_t unit = 0; unit < units(); unit += depth) {
      Block block = blockAt({0, desc.n}, column, unit);
      if (column > 0 || unit > 0)
        meet(parts); // nobody reads the panels of the block before any more
      Part columns = partOf(block.columns, part, parts, kernels->columns);
      if (!columns.empty()) {
        Block some = block;
        some.column += columns.begin;
        some.columns = columns.size();
        PackCall pack = callToPackB(some, b);
        pack.to = scratch + columns.begin * block.units;
        kernels->packColumns(pack);
      }
      meet(parts);
      for (int64_t thread = part; thread < threads; thread += parts)
        sharedBlock(block, a, c, scratch, thread);
    }
}

int64_t OwnGemm::packedFloats() const {
  return units() * roundUp(desc.n, kernels->columns);
}

int64_t OwnGemm::packedBytes() const { return 4 * aligned(packedFloats()); }

void OwnGemm::pack(const void *b, float *to) const {
  // Panels of 24 columns and an odd number of units end within a line.
  std::fill(to + packedFloats(), to + aligned(packedFloats()), 0.0f);
  onTeam(threads, [&](int64_t part, int64_t parts) {
    Part columns = partOf(desc.n, part, parts, kernels->columns);
    if (columns.empty())
      return;
    for (int64_t unit = 0; unit < units(); unit += depth) {
      Block block{columns.begin, columns.size(), unit,
                  std::min(depth, units() - unit)};
      PackCall pack = callToPackB(block, b);
      pack.to = to + packedAt(block);
      pack.streams = true;
      kernels->packColumns(pack);
    }
  });
}

void OwnGemm::run(const void *a, const void *b, void *at, float *scratch,
                  GemmThen then, NormSum *squares) const {
  std::atomic<int64_t> taken = 0;
  std::mutex adding;
  // OMP_THREAD_LIMIT may give fewer threads than it is asked for.
  onTeam(threads, [&](int64_t part, int64_t parts) {
    NormCounter counter;
    const Result c{at, then, desc.counts ? &counter : nullptr};
    if (ownsB)
      runOwnB(a, b, c, scratch, part, parts);
    else
      runSharedB(a, b, c, scratch, part, parts);
    if (tail > 0)
      runTail(a, b, c, scratch, part, taken);
    // Others read what was streamed behind the end of the team's work.
    if (desc.kernel == GemmKernel::ownStreamed)
      _mm_sfence();
    if (!desc.counts)
      return;
    // Sums of integers have no order.
    std::lock_guard lock(adding);
    counter.addTo(*squares);
  });
}

} // namespace mtc::runtime

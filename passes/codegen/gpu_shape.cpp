//===- gpu_shape.cpp - how a kernel is spread over a GPU ------------------===//
#include "passes/codegen/gpu_shape.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

namespace {

constexpr int64_t kElementThreads = 256, kMostRowThreads = 512;
/// Up to as many vectors of a row a warp takes alone: more would leave a thread
/// with more than four of them.
constexpr int64_t kVectorsOfWarp = 4 * kGpuWarp;
/// Rows that a block adds up before it writes its part: more make the parts a
/// smaller share of what is read, fewer give more blocks. At least so many...
constexpr int64_t kRowsOfChunk = 4;
/// ...and so many more that there are no more threads than a large card runs at
/// once (2,048 on each of 132 multiprocessors, half of them taken).
constexpr int64_t kThreadsOfSums = 131072;
constexpr int64_t kMostOwners = 1024;

int64_t widthOf(rt::OperandAttr info) {
  return std::max<int64_t>(1, info.getElement().getIntOrFloatBitWidth() / 8);
}

bool hasColumns(rt::OperandAttr info) {
  return info.getMode() != rt::Mode::Row && info.getMode() != rt::Mode::Scalar;
}

class Shaper {
public:
  Shaper(const Schedule &schedule, ArrayRef<int64_t> alignment)
      : s(schedule), kernel(schedule.kernel), alignment(alignment),
        rows(numRows(kernel)), cols(numCols(kernel)) {}

  GpuShape run() {
    setLanes();
    if (llvm::any_of(kernel.getBody().front(), [&](Operation &op) {
          return isSink(&op) && isSum(kernel, &op);
        }))
      setSums();
    else if (isPointwise(s))
      setElements();
    else
      setRows();
    return shape;
  }

private:
  template <typename F> void eachOperand(F f) {
    for (auto [i, attr] : llvm::enumerate(kernel.getOperandsInfo()))
      f(static_cast<int64_t>(i), cast<rt::OperandAttr>(attr));
  }

  /// As many columns as 16 bytes of the narrowest operand have, if all
  /// addresses are known to allow it.
  void setLanes() {
    int64_t narrowest = kGpuAccessBytes;
    eachOperand([&](int64_t, rt::OperandAttr info) {
      if (hasColumns(info))
        narrowest = std::min(narrowest, widthOf(info));
    });
    int64_t most =
        narrowest == kGpuAccessBytes ? 1 : kGpuAccessBytes / narrowest;
    if (cols < 0) { // one row of elements: addresses are looked at
      // Rows of a table begin at multiples of the columns, whatever these are.
      shape.lanes = isPointwise(s) && !hasTable() ? most : 1;
      shape.lanesIfAligned = shape.lanes > 1 && !areAligned(shape.lanes);
      return;
    }
    while (most > 1 && (cols % most || !areAligned(most)))
      most /= 2;
    shape.lanes = most;
  }

  bool hasTable() {
    bool found = false;
    eachOperand([&](int64_t, rt::OperandAttr info) {
      found |= info.getMode() == rt::Mode::Table;
    });
    return found;
  }

  bool areAligned(int64_t lanes) {
    bool aligned = true;
    eachOperand([&](int64_t i, rt::OperandAttr info) {
      int64_t bytes = std::min(kGpuAccessBytes, lanes * widthOf(info));
      aligned &= !hasColumns(info) || alignment[i] % bytes == 0;
    });
    return aligned;
  }

  void setElements() {
    shape.form = GpuForm::Elements;
    shape.threads = kElementThreads;
    int64_t perBlock = shape.threads * shape.lanes;
    if (cols < 0)
      shape.blocks = 0, shape.columnsPerBlock = perBlock;
    else
      shape.blocks = llvm::divideCeil(rows * cols, perBlock);
  }

  /// Threads for one row, alone in their block: as many as vectors, and not so
  /// many that a second block finds no room beside them. (On an H100 1,024 took
  /// a quarter longer for the loss over 50,304 words, half as many as vectors a
  /// quarter longer for sums over rows of 3,072.)
  int64_t threadsOfRow(int64_t vectors) {
    int64_t all = static_cast<int64_t>(
        llvm::PowerOf2Ceil(static_cast<uint64_t>(vectors)));
    return std::clamp<int64_t>(all, kGpuWarp, kMostRowThreads);
  }

  int64_t vectorsOfRow() {
    return cols < 0 ? 2 * kElementThreads : llvm::divideCeil(cols, shape.lanes);
  }

  void setRows() {
    shape.form = GpuForm::Rows;
    if (vectorsOfRow() <= kVectorsOfWarp) {
      shape.rowThreads = kGpuWarp;
      shape.threads = 4 * kGpuWarp;
    } else {
      shape.rowThreads = shape.threads = threadsOfRow(vectorsOfRow());
    }
    shape.blocks = llvm::divideCeil(rows, shape.threads / shape.rowThreads);
  }

  void setSums() {
    shape.threads = shape.rowThreads = threadsOfRow(vectorsOfRow());
    int64_t keys = 0;
    eachOperand(
        [&](int64_t i, rt::OperandAttr info) { addSum(i, info, keys); });
    if (keys) {
      shape.form = GpuForm::Owners;
      shape.blocks = std::min<int64_t>(
          kMostOwners, static_cast<int64_t>(llvm::PowerOf2Ceil(keys)));
    } else {
      shape.form = GpuForm::Chunks;
      shape.rowsPerChunk =
          std::max(kRowsOfChunk, static_cast<int64_t>(llvm::divideCeil(
                                     rows * shape.threads, kThreadsOfSums)));
      shape.blocks = llvm::divideCeil(rows, shape.rowsPerChunk);
    }
  }

  /// A column or scalar operand that rows add to becomes a sum; the rows of a
  /// table or of a periodic operand have owners.
  void addSum(int64_t index, rt::OperandAttr info, int64_t &keys) {
    if (llvm::none_of(kernel.getBody().front(), [&](Operation &op) {
          return operandIndex(&op) == index && isSink(&op) &&
                 isSum(kernel, &op);
        }))
      return;
    if (info.getMode() == rt::Mode::Col || info.getMode() == rt::Mode::Scalar)
      shape.sums.push_back({index, info.getMode() == rt::Mode::Col ? cols : 1,
                            shape.sumWidth()});
    else
      keys = std::max<int64_t>(keys, info.getExtent());
  }

  const Schedule &s;
  rt::KernelOp kernel;
  ArrayRef<int64_t> alignment;
  int64_t rows, cols;
  GpuShape shape;
};

} // namespace

GpuShape codegen::gpuShape(const Schedule &schedule,
                           ArrayRef<int64_t> alignment) {
  return Shaper(schedule, alignment).run();
}

//===- period.cpp - rows of a timeline that repeat ------------------------===//

#include "compiler/period.h"

#include <map>
#include <vector>

namespace mtc::compiler {
namespace {

/// Periods that are tried. The first row that is like the one in the middle is
/// a period behind it, unless that occurs in a period several times.
constexpr int kTries = 64;

/// All of a row but which microbatch it has.
std::vector<int64_t> workOf(const MtcStep &row,
                            llvm::ArrayRef<MtcTransfer> transfers) {
  std::vector<int64_t> work{row.kind, row.fragment, row.chunk, row.slots,
                            row.last};
  // Sums begin in the first microbatch, and the update has none.
  work.push_back(row.microbatch > 0 ? 1 : row.microbatch);
  for (const MtcTransfer &t : transfers.slice(row.first, row.count))
    work.insert(work.end(),
                {t.is_send, t.peer_stage, t.arena, t.offset, t.bytes});
  return work;
}

class Finder {
public:
  Finder(llvm::ArrayRef<MtcStep> rows, llvm::ArrayRef<MtcTransfer> transfers)
      : rows(rows) {
    std::map<std::vector<int64_t>, int64_t> numbers;
    for (const MtcStep &row : rows)
      works.push_back(
          numbers.try_emplace(workOf(row, transfers), numbers.size())
              .first->second);
  }

  std::optional<runtime::PeriodInfo> find() const {
    size_t middle = rows.size() / 2;
    while (middle < rows.size() && rows[middle].microbatch <= 0)
      ++middle;
    std::optional<runtime::PeriodInfo> best;
    int tries = 0;
    for (size_t i = middle + 1; i < rows.size() && tries < kTries; ++i) {
      if (works[i] != works[middle])
        continue;
      ++tries;
      std::optional<runtime::PeriodInfo> found = around(middle, i - middle);
      if (found &&
          (!best || best->rows * best->times < found->rows * found->times))
        best = found;
    }
    return best;
  }

private:
  /// Rows that repeat `period` rows later, if there are two repeats.
  std::optional<runtime::PeriodInfo> around(size_t middle,
                                            size_t period) const {
    int64_t later = rows[middle + period].microbatch - rows[middle].microbatch;
    if (later <= 0)
      return std::nullopt;
    size_t first = middle, end = middle + 1;
    while (first > 0 && repeats(first - 1, period, later))
      --first;
    while (end + period < rows.size() && repeats(end, period, later))
      ++end;
    size_t times = (end + period - first) / period;
    if (first == 0 || times < 2)
      return std::nullopt;
    return runtime::PeriodInfo{int64_t(first), int64_t(period), int64_t(times),
                               later};
  }

  bool repeats(size_t row, size_t period, int64_t later) const {
    if (works[row] != works[row + period] || rows[row].microbatch == 0)
      return false;
    return rows[row].microbatch < 0 ||
           rows[row + period].microbatch - rows[row].microbatch == later;
  }

  llvm::ArrayRef<MtcStep> rows;
  std::vector<int64_t> works; ///< by row; equal where the work is
};

} // namespace

std::optional<runtime::PeriodInfo>
findPeriod(llvm::ArrayRef<MtcStep> rows,
           llvm::ArrayRef<MtcTransfer> transfers) {
  return Finder(rows, transfers).find();
}

} // namespace mtc::compiler

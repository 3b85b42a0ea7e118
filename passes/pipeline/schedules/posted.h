//===- posted.h - transfers between post and wait ---------------*- C++ -*-===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_POSTED_H
#define MTC_PASSES_PIPELINE_SCHEDULES_POSTED_H

#include "passes/pipeline/schedules/machine.h"

#include <map>
#include <set>

namespace mtc::schedules {

/// Follows the exchanges of one rank: which transfers are posted and not yet
/// waited for. What breaks a rule goes into the findings of `matching`, which
/// the caller owns; what a wait is for into its `awaited`.
class PostedTransfers {
public:
  PostedTransfers(int rank, Matching &matching)
      : rank_(rank), matching_(matching) {}

  /// Item `i` of the rank, in the order of the program.
  void follow(const MachineItem &exchange, int i);
  /// The program has ended.
  void end();

private:
  /// Direction, peer and tag: what a transfer is called on its rank.
  using Key = std::tuple<bool, int, std::string>;

  void post(const MachineTransfer &transfer, OpRef at);
  void count(const MachineTransfer &transfer, OpRef at);
  void wait(const MachineTransfer &transfer, OpRef at);
  void report(const char *code, OpRef at, std::string message);

  int rank_;
  Matching &matching_;
  std::map<Key, OpRef> open_;
  std::map<std::pair<bool, int>, int> counts_; ///< open, by channel
  std::set<std::pair<bool, int>> full_;        ///< channels that were reported
};

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_POSTED_H

//===- posted.h - transfers that are begun and not ended --------*- C++ -*-===//
#ifndef MTC_RUNTIME_PUBLIC_POSTED_H
#define MTC_RUNTIME_PUBLIC_POSTED_H

#include "mtc/runtime/abi.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

namespace mtc::runtime {

/// Counts, along a timeline, the transfers of each channel (to a peer, or from
/// one) that rows have begun and not ended.
class OpenTransfers {
public:
  /// `transfers` are those of `row`; a row of another kind changes nothing.
  void follow(const MtcStep &row, std::span<const MtcTransfer> transfers) {
    if (row.kind == MTC_STEP_POST || row.kind == MTC_STEP_EXCHANGE)
      for (const MtcTransfer &t : transfers)
        most_ = std::max(most_, ++open_[{t.is_send, t.peer_stage}]);
    if (row.kind == MTC_STEP_WAIT || row.kind == MTC_STEP_EXCHANGE)
      for (const MtcTransfer &t : transfers)
        --open_[{t.is_send, t.peer_stage}];
  }
  /// The most of one channel at a time so far.
  int64_t most() const { return most_; }

private:
  std::map<std::pair<int32_t, int32_t>, int64_t> open_;
  int64_t most_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PUBLIC_POSTED_H

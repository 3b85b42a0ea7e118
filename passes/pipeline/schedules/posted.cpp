//===- posted.cpp - transfers between post and wait -----------------------===//

#include "passes/pipeline/schedules/posted.h"

#include <fmt/format.h>

namespace mtc::schedules {
namespace {

std::string describe(bool send, int peer, const std::string &tag) {
  return fmt::format("{} {} {} rank {}", send ? "send of" : "receive of", tag,
                     send ? "to" : "from", peer);
}

} // namespace

void PostedTransfers::report(const char *code, OpRef at, std::string message) {
  matching_.findings.push_back(
      {code, fmt::format("rank {} item {}: {}", rank_, at.item, message), rank_,
       at.item});
}

void PostedTransfers::follow(const MachineItem &exchange, int i) {
  for (size_t op = 0; op < exchange.transfers.size(); ++op) {
    OpRef at{rank_, i, static_cast<int>(op)};
    if (exchange.part == Part::Post)
      post(exchange.transfers[op], at);
    else if (exchange.part == Part::Wait)
      wait(exchange.transfers[op], at);
    else
      count(exchange.transfers[op], at);
  }
  if (exchange.part == Part::Whole)
    for (const MachineTransfer &t : exchange.transfers)
      --counts_[{t.send, t.peer}];
}

void PostedTransfers::post(const MachineTransfer &t, OpRef at) {
  if (!open_.try_emplace({t.send, t.peer, t.tag}, at).second) {
    report("posted-twice", at,
           fmt::format("the {} is posted, expected a "
                       "wait for it before it is posted again",
                       describe(t.send, t.peer, t.tag)));
    matching_.complete = false;
  }
  count(t, at);
}

void PostedTransfers::count(const MachineTransfer &t, OpRef at) {
  // Once per channel: what follows has the same cause.
  if (++counts_[{t.send, t.peer}] > MTC_MOST_POSTED &&
      full_.emplace(t.send, t.peer).second)
    report(
        "posted-limit", at,
        fmt::format("the {} is one more than the {} transfers of a "
                    "channel that may be begun and not ended; expected fewer "
                    "microbatches in a row of one chunk",
                    describe(t.send, t.peer, t.tag), MTC_MOST_POSTED));
}

void PostedTransfers::wait(const MachineTransfer &t, OpRef at) {
  auto it = open_.find({t.send, t.peer, t.tag});
  if (it == open_.end()) {
    report("unposted", at,
           fmt::format("waits for the {}, expected one "
                       "that is posted",
                       describe(t.send, t.peer, t.tag)));
    matching_.complete = false;
    return;
  }
  matching_.awaited.push_back({at, it->second});
  open_.erase(it);
  --counts_[{t.send, t.peer}];
}

void PostedTransfers::end() {
  for (const auto &[key, at] : open_) {
    const auto &[send, peer, tag] = key;
    report("unwaited", at,
           fmt::format("posts the {}, expected a wait for "
                       "it in the same step, found none",
                       describe(send, peer, tag)));
    matching_.complete = false;
  }
}

} // namespace mtc::schedules

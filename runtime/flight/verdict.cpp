//===- verdict.cpp - who holds a run up -----------------------------------===//

#include "runtime/flight/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace mtc::runtime {
namespace {

using Ranks = std::vector<int>;

std::string listOf(const Ranks &ranks) {
  constexpr size_t kMost = 8;
  Ranks some(ranks.begin(), ranks.begin() + static_cast<ptrdiff_t>(
                                                std::min(ranks.size(), kMost)));
  return fmt::format(
      "{} {}{}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(some, ", "),
      ranks.size() > kMost ? fmt::format(" and {} more", ranks.size() - kMost)
                           : "");
}

std::string at(const FlightOp &op) {
  std::string place = placeOf(op);
  return textOf(op) + (place.empty() ? "" : " (" + place + ")");
}

/// What a rank cannot go on behind; null: it is not blocked.
const FlightOp *blockedIn(const FlightRecord &record) {
  const FlightOp *last = nullptr;
  for (const FlightOp &op : record.operations)
    if (op.inProgress() &&
        (op.kind == FlightKind::collective || op.kind == FlightKind::wait ||
         op.kind == FlightKind::exchange))
      last = &op;
  return last;
}

class Explainer {
public:
  explicit Explainer(std::vector<FlightRecord> records)
      : records_(std::move(records)) {
    std::ranges::sort(records_, {}, &FlightRecord::rank);
  }

  FlightVerdict verdict() const {
    FlightVerdict out;
    for (const FlightRecord &record : records_) {
      FlightRank rank{record.rank, doing(record), waitsFor(record)};
      if (!rank.waitsFor.empty())
        rank.doing += "; waits for " + listOf(rank.waitsFor);
      out.ranks.push_back(std::move(rank));
    }
    out.difference = difference();
    blame(out);
    return out;
  }

private:
  const FlightRecord *find(int rank) const {
    auto found =
        std::ranges::lower_bound(records_, rank, {}, &FlightRecord::rank);
    return found != records_.end() && found->rank == rank ? &*found : nullptr;
  }

  /// With how its process did.
  static std::string doing(const FlightRecord &record) {
    std::string state = record.dead      ? record.ended + ", "
                        : record.stopped ? "stopped by a signal, "
                        : !record.ended.empty()
                            ? "ended (" + record.ended + ") "
                            : "";
    return state + doingOf(record);
  }

  /// Calls of a group that a rank has come to.
  static uint64_t callsOf(const FlightRecord &record,
                          const std::string &group) {
    uint64_t calls = 0;
    for (const FlightOp &op : record.operations)
      if (op.kind == FlightKind::collective && op.group == group)
        calls = std::max(calls, op.sequence);
    return calls;
  }

  /// Whether a rank has posted its half of a transfer.
  bool hasPosted(int rank, FlightKind kind, int peer, uint64_t sequence) const {
    const FlightRecord *record = find(rank);
    return record &&
           std::ranges::any_of(record->operations, [&](const FlightOp &op) {
             return op.kind == kind && op.peer == peer &&
                    op.sequence >= sequence;
           });
  }

  /// What keeps a transfer from taking place lies with this rank.
  bool lacks(const FlightRecord &record, const FlightOp &transfer) const {
    FlightKind other = transfer.kind == FlightKind::send ? FlightKind::receive
                                                         : FlightKind::send;
    return !hasPosted(transfer.peer, other, record.rank, transfer.sequence);
  }

  Ranks waitsFor(const FlightRecord &record) const {
    const FlightOp *op = blockedIn(record);
    if (!op || record.dead || record.stopped)
      return {};
    std::set<int> others = op->kind == FlightKind::collective
                               ? missing(record, *op)
                               : silent(record, *op);
    return {others.begin(), others.end()};
  }

  /// Members that have not come to a call; if all have, those that no longer
  /// move.
  std::set<int> missing(const FlightRecord &record, const FlightOp &op) const {
    std::set<int> absent, idle;
    auto group = record.groups.find(op.group);
    if (group == record.groups.end())
      return absent;
    for (int member : group->second) {
      const FlightRecord *other = find(member);
      if (!other || callsOf(*other, op.group) < op.sequence)
        absent.insert(member);
      else if (other->dead || other->stopped)
        idle.insert(member);
    }
    return absent.empty() ? idle : absent;
  }

  /// Peers of the transfers that a wait may be for, and that have not posted
  /// theirs; if all have, those that no longer move.
  std::set<int> silent(const FlightRecord &record, const FlightOp &op) const {
    std::set<int> absent, idle;
    for (const FlightOp &each : record.operations) {
      bool isTransfer =
          each.kind == FlightKind::send || each.kind == FlightKind::receive;
      bool isOf = op.kind == FlightKind::exchange ? each.number > op.number
                                                  : each.number < op.number;
      if (!isTransfer || !each.inProgress() || !isOf)
        continue;
      const FlightRecord *other = find(each.peer);
      if (lacks(record, each))
        absent.insert(each.peer);
      else if (other && (other->dead || other->stopped))
        idle.insert(each.peer);
    }
    return absent.empty() ? idle : absent;
  }

  /// The earliest call that some members of a group came to and others did
  /// not, or in which they made different ones.
  std::string difference() const {
    const FlightOp *first = nullptr;
    std::string text;
    for (const FlightRecord &record : records_)
      for (const FlightOp &op : record.operations) {
        // Who came to a call that others did not is in it still.
        if (op.kind != FlightKind::collective || !op.inProgress() ||
            (first && first->started <= op.started))
          continue;
        if (std::string found = differenceIn(record, op); !found.empty()) {
          first = &op;
          text = std::move(found);
        }
      }
    return first ? text : transferDifference();
  }

  std::string differenceIn(const FlightRecord &record,
                           const FlightOp &op) const {
    auto group = record.groups.find(op.group);
    if (group == record.groups.end())
      return "";
    Ranks callers, absent;
    for (int member : group->second) {
      const FlightRecord *other = find(member);
      if (!other)
        continue;
      const FlightOp *same = callOf(*other, op);
      if (same && same->call != op.call)
        return fmt::format("rank {} calls {}, rank {} calls {}", record.rank,
                           at(op), member, at(*same));
      bool came = same || callsOf(*other, op.group) >= op.sequence;
      (came ? callers : absent).push_back(member);
    }
    if (absent.empty())
      return "";
    return fmt::format("{}: {} came to it, {} did not", at(op), listOf(callers),
                       listOf(absent));
  }

  static const FlightOp *callOf(const FlightRecord &record,
                                const FlightOp &op) {
    for (const FlightOp &each : record.operations)
      if (each.kind == FlightKind::collective && each.group == op.group &&
          each.sequence == op.sequence)
        return &each;
    return nullptr;
  }

  /// Of a rank that is blocked by a transfer.
  std::string transferDifference() const {
    for (const FlightRecord &record : records_)
      if (const FlightOp *op = blockedIn(record))
        for (const FlightOp &each : record.operations)
          if ((each.kind == FlightKind::send ||
               each.kind == FlightKind::receive) &&
              each.inProgress() && each.step == op->step && lacks(record, each))
            return fmt::format("{}: rank {} posted it, rank {} not its half",
                               at(each), record.rank, each.peer);
    return "";
  }

  void blame(FlightVerdict &out) const {
    for (bool FlightRecord::*gone :
         {&FlightRecord::dead, &FlightRecord::stopped})
      for (const FlightRecord &record : records_)
        if (!out.culprit && record.*gone) {
          out.culprit = record.rank;
          out.why = doing(record);
        }
    if (out.culprit)
      return;
    followWaits(out);
  }

  /// To a rank that waits for nobody, or around a circle.
  void followWaits(FlightVerdict &out) const {
    for (const FlightRank &start : out.ranks) {
      if (start.waitsFor.empty())
        continue;
      Ranks path{start.rank};
      for (;;) {
        const FlightRecord *record = find(path.back());
        Ranks next = record ? waitsFor(*record) : Ranks();
        if (next.empty())
          break;
        bool isCircle = std::ranges::count(path, next.front()) > 0;
        path.push_back(next.front());
        if (isCircle) {
          out.culprit = path.back();
          out.why = fmt::format("ranks wait for each other: {}",
                                fmt::join(path, " for "));
          return;
        }
      }
      out.culprit = path.back();
      const FlightRecord *record = find(path.back());
      out.why = record ? doing(*record) : "it left no record";
      return;
    }
  }

  std::vector<FlightRecord> records_;
};

} // namespace

std::string doingOf(const FlightRecord &record) {
  const FlightOp *op = blockedIn(record), *last = nullptr;
  for (const FlightOp &each : record.operations) {
    if (!op && each.inProgress() && each.kind < FlightKind::collective)
      op = &each;
    last = &each;
  }
  if (op)
    return "in " + at(*op);
  return last ? "behind " + at(*last) : "before its first operation";
}

FlightVerdict explainFlight(std::vector<FlightRecord> records) {
  return Explainer(std::move(records)).verdict();
}

} // namespace mtc::runtime

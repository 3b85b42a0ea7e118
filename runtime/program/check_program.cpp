//===- check_program.cpp - a program's tables against its descriptor ------===//

#include "mtc/runtime/posted.h"
#include "runtime/base/json.h"
#include "runtime/program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace mtc::runtime {
namespace {

class Checker {
public:
  Checker(const Program &program, const Descriptor &descriptor,
          Problems &problems)
      : program_(program), d_(descriptor), problems_(problems) {}

  void checkTransfers() {
    for (int64_t i = 0; i < d_.transfers; ++i)
      checkTransfer(i);
  }

  void checkEntry(const EntryInfo &entry) {
    const MtcStep *rows = program_.timeline(entry.name);
    if (!rows)
      return problems_.add(fmt::format("entry {}: expected the symbol "
                                       "mtc_timeline_{}",
                                       entry.name, entry.name));
    posted_.assign(static_cast<size_t>(d_.transfers), false);
    open_ = {};
    for (int64_t i = 0; i < entry.length; ++i)
      checkRow(entry, rows[i], fmt::format("{} row {}", entry.name, i));
    if (entry.period)
      checkPeriod(entry, *entry.period, rows);
    if (auto it = std::ranges::find(posted_, true); it != posted_.end())
      problems_.add(fmt::format("{}: no row waits for transfer {}, which one "
                                "posts",
                                entry.name, it - posted_.begin()));
    if (open_.most() > d_.posted)
      problems_.add(
          fmt::format("{}: expected at most {} transfers of a channel "
                      "begun and not ended (posted), found {}",
                      entry.name, d_.posted, open_.most()));
  }

private:
  void checkTransfer(int64_t index) {
    const MtcTransfer &t = program_.transfers[index];
    std::string what = fmt::format("transfer {}", index);
    if (t.peer_stage < 0 || t.peer_stage >= d_.mesh.stages() ||
        t.peer_stage == d_.stage)
      problems_.add(fmt::format("{}: peer stage {} is this stage or not one of "
                                "{}",
                                what, t.peer_stage, d_.mesh.stages()));
    if (t.arena < 0 || t.arena >= MTC_ARENA_COUNT)
      problems_.add(fmt::format("{}: there is no arena {}", what, t.arena));
    else if (!inside(t.offset, t.bytes, d_.arenas[t.arena]))
      problems_.add(fmt::format("{}: {} bytes at {} leave the arena of {}",
                                what, t.bytes, t.offset, d_.arenas[t.arena]));
  }

  void checkRow(const EntryInfo &entry, const MtcStep &row,
                const std::string &what) {
    switch (row.kind) {
    case MTC_STEP_LOAD:
      return checkLoad(entry, row, what);
    case MTC_STEP_RUN:
      if (row.fragment < 0 ||
          row.fragment >= static_cast<int64_t>(d_.fragments.size()))
        problems_.add(
            fmt::format("{}: there is no fragment {}", what, row.fragment));
      if (row.microbatch < -1 || row.microbatch >= d_.microbatchesOf(entry))
        problems_.add(
            fmt::format("{}: there is no microbatch {}", what, row.microbatch));
      if (row.last != 0 && row.last != 1)
        problems_.add(fmt::format("{}: expected last to be 0 or 1, found {}",
                                  what, row.last));
      // The update works on no microbatch and in no slot.
      if (row.microbatch >= 0 && !hasSlots(row))
        problems_.add(fmt::format("{}: slots [{}, +{}) of {}", what, row.slots,
                                  d_.pools, d_.slots));
      return;
    case MTC_STEP_EXCHANGE:
    case MTC_STEP_POST:
    case MTC_STEP_WAIT:
      return checkTransfers(row, what);
    default:
      problems_.add(fmt::format("{}: unknown kind {}", what, row.kind));
    }
  }

  void checkTransfers(const MtcStep &row, const std::string &what) {
    if (!inside(row.first, row.count, d_.transfers))
      return problems_.add(fmt::format("{}: transfers [{}, +{}) of {}", what,
                                       row.first, row.count, d_.transfers));
    open_.follow(row, {program_.transfers + row.first, size_t(row.count)});
    if (row.kind == MTC_STEP_EXCHANGE)
      return;
    bool posts = row.kind == MTC_STEP_POST;
    for (int64_t i = row.first; i < row.first + row.count; ++i) {
      if (posted_[i] == posts)
        problems_.add(fmt::format("{}: {} transfer {}, which {}", what,
                                  posts ? "posts" : "waits for", i,
                                  posts ? "nobody has waited for since it was "
                                          "posted"
                                        : "is not posted"));
      posted_[i] = posts;
    }
  }

  /// Each repeat is what the one before is, of later microbatches.
  void checkPeriod(const EntryInfo &entry, const PeriodInfo &period,
                   const MtcStep *rows) {
    if (!inside(period.first, period.end() - period.first, entry.length))
      return problems_.add(fmt::format("{}: a period of rows [{}, {}) of {}",
                                       entry.name, period.first, period.end(),
                                       entry.length));
    for (int64_t i = period.first; i < period.end() - period.rows; ++i)
      if (!isRepeated(rows[i], rows[i + period.rows], period.microbatches))
        return problems_.add(fmt::format(
            "{} row {}: expected what row {} does, for the microbatch that is "
            "{} later, as they are in a period, found something else",
            entry.name, i + period.rows, i, period.microbatches));
  }

  bool isRepeated(const MtcStep &row, const MtcStep &again,
                  int64_t later) const {
    if (row.kind != again.kind || row.count != again.count)
      return false;
    if (row.kind == MTC_STEP_LOAD || row.kind == MTC_STEP_RUN)
      return row.fragment == again.fragment && row.chunk == again.chunk &&
             row.last == again.last && row.microbatch > 0 &&
             again.microbatch - row.microbatch == later &&
             haveSameSlots(row, again);
    if (!inside(row.first, row.count, d_.transfers) ||
        !inside(again.first, again.count, d_.transfers))
      return false;
    for (int64_t i = 0; i < row.count; ++i)
      if (!areSameButTag(program_.transfers[row.first + i],
                         program_.transfers[again.first + i]))
        return false;
    return true;
  }

  bool haveSameSlots(const MtcStep &a, const MtcStep &b) const {
    return hasSlots(a) && hasSlots(b) &&
           std::equal(program_.slots + a.slots,
                      program_.slots + a.slots + d_.pools,
                      program_.slots + b.slots);
  }

  static bool areSameButTag(const MtcTransfer &a, const MtcTransfer &b) {
    return a.is_send == b.is_send && a.peer_stage == b.peer_stage &&
           a.arena == b.arena && a.offset == b.offset && a.bytes == b.bytes;
  }

  void checkLoad(const EntryInfo &entry, const MtcStep &row,
                 const std::string &what) {
    if (row.microbatch < 0 || row.microbatch >= d_.microbatchesOf(entry))
      problems_.add(
          fmt::format("{}: there is no microbatch {}", what, row.microbatch));
    int64_t bytes = d_.inputBytes(entry);
    for (const InputInfo &in : d_.inputs) {
      if (in.entry != entry.name)
        continue;
      int64_t slot = slotOf(in, row);
      if (slot < 0 && isLoadedElsewhere(in, row))
        continue;
      int64_t at;
      bool fine =
          slot >= 0 && !__builtin_mul_overflow(slot, in.stride, &at) &&
          inside(at, in.offset, d_.arenas[MTC_ARENA_ACTIVATIONS]) &&
          inside(at + in.offset, bytes, d_.arenas[MTC_ARENA_ACTIVATIONS]);
      if (!fine)
        problems_.add(fmt::format("{}: slot {} of input {} leaves the "
                                  "activation arena",
                                  what, slot, in.name));
    }
  }

  int64_t slotOf(const InputInfo &in, const MtcStep &row) const {
    return hasSlots(row) ? program_.slots[row.slots + in.pool] : -1;
  }

  /// An input may lie in slots of several pools, of which a row names one.
  bool isLoadedElsewhere(const InputInfo &in, const MtcStep &row) const {
    return std::any_of(
        d_.inputs.begin(), d_.inputs.end(), [&](const InputInfo &other) {
          return other.entry == in.entry && other.name == in.name &&
                 slotOf(other, row) >= 0;
        });
  }

  bool hasSlots(const MtcStep &row) const {
    return inside(row.slots, d_.pools, d_.slots);
  }

  std::vector<bool> posted_; ///< transfers, by a row of the entry so far
  OpenTransfers open_;
  const Program &program_;
  const Descriptor &d_;
  Problems &problems_;
};

} // namespace

Status checkProgram(const Program &program, const Descriptor &descriptor) {
  Problems problems;
  Checker checker(program, descriptor, problems);
  if (descriptor.transfers > 0 && !program.transfers)
    problems.add("expected the symbol mtc_transfers");
  else
    checker.checkTransfers();
  if (descriptor.slots > 0 && !program.slots) {
    problems.add("expected the symbol mtc_slots");
    return problems.status("program tables");
  }
  for (const EntryInfo &entry : descriptor.entries)
    checker.checkEntry(entry);
  return problems.status("program tables");
}

} // namespace mtc::runtime

//===- rank.h - one rank of a running program -------------------*- C++ -*-===//
//
// Holds what the fragments' context points to, and walks timelines. The walk is
// the whole interpreter of mtc: load, call a fragment, exchange, post, wait.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_PROGRAM_RANK_H
#define MTC_RUNTIME_PROGRAM_RANK_H

#include "runtime/comm/comm.h"
#include "runtime/device/device.h"
#include "runtime/device/device_calls.h"
#include "runtime/device/staging.h"
#include "runtime/flight/flight_comm.h"
#include "runtime/program/host_issue.h"
#include "runtime/program/kept_walks.h"
#include "runtime/program/profile.h"
#include "runtime/program/program.h"
#include "runtime/program/step_slots.h"
#include "runtime/program/trace.h"

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// Fills inputs; implemented by the data reader.
class DataLoader {
public:
  virtual ~DataLoader() = default;
  /// Writes input `in` of `microbatch`, i32 [micro_batch, seq], to `out`, host
  /// memory on its way to the arena.
  virtual Status load(const InputInfo &in, int64_t microbatch,
                      int32_t *out) = 0;
};

/// Takes the values that are valid only right after a fragment.
class Observer {
public:
  virtual ~Observer() = default;
  /// The fragment of `row` was issued; what is issued here runs behind it.
  virtual Status issued(const MtcStep &row) = 0;
};

/// Of a walk whose inputs are still where an earlier one left them.
class LeavesInputs final : public DataLoader {
public:
  Status load(const InputInfo &, int64_t, int32_t *) override {
    return Status::okay();
  }
};

/// What a step leaves on the device.
struct StepResult {
  float loss = 0;       ///< of this rank's samples, on the last stage
  double gradNorm = 0;  ///< once `reduce` ran
  bool applies = true;  ///< likewise: whether it is updated (update_rule.h)
  MtcStepBlock block{}; ///< with which it was computed
  /// Behind it, where the device counts them; else nothing of use.
  MtcUpdates updates{};

  /// NaN and infinities give NaN, which equals nothing.
  bool isFinite() const { return gradNorm - gradNorm == 0; }
  /// Whether the step is updated.
  bool isApplied() const { return isFinite() && applies; }
};

/// What a rank is made of. The device, prepared for the descriptor, and the
/// communicator, which issues on the device's stream, belong to the caller and
/// outlive the rank.
struct RankParts {
  Program program;
  Descriptor descriptor; ///< of `program`
  int rank = 0;
  Device *device = nullptr;
  Communicator *comm = nullptr;
  FlightCommunicator *flight = nullptr; ///< notes what is done; null: nobody
};

/// The place of a row in the plan.
struct RowOfEntry {
  const EntryInfo *entry = nullptr;
  int64_t row = 0; ///< from 0
};

class RankState {
public:
  /// Checks that the parts fit together: mesh and stage, arenas equal to the
  /// plan, tables inside their bounds. Errors: inputRejected, internal.
  static Status create(RankParts parts, std::unique_ptr<RankState> &out);

  RankState(const RankState &) = delete;
  RankState &operator=(const RankState &) = delete;

  MtcContext &context() { return context_; }
  const Descriptor &descriptor() const { return parts_.descriptor; }
  Communicator &comm() { return *parts_.comm; }
  Stream &stream() { return parts_.device->stream(); }
  Device &device() { return *parts_.device; }
  const Mesh &mesh() const { return parts_.descriptor.mesh; }
  int rank() const { return parts_.rank; }
  int64_t coord(MtcAxis axis) const { return context_.coord[axis]; }
  bool onLastStage() const { return coord(MTC_AXIS_PP) == mesh().stages() - 1; }
  /// True for the rank that logs: on the last stage, the first along every
  /// axis.
  bool logs() const;

  /// Where the loss is summed, one float.
  ArenaOffset loss() const {
    return {MTC_ARENA_GRADS, descriptor().lossOffset};
  }
  /// An offset as communicators take it. The host does not dereference it.
  void *address(ArenaOffset at) const {
    return static_cast<char *>(context_.arena[at.arena]) + at.offset;
  }

  /// Begins a step. What its first walk issues first makes its block, and sets
  /// the loss to 0. Of the steps before, at most one has results that nobody
  /// has read.
  Status beginStep(const MtcStepOrder &order);
  /// Whether the device counts updates: then it makes the block of a step that
  /// follows one by itself, and clears gradients where that was skipped.
  bool countsUpdates() const { return DeviceCalls::of(&context_) != nullptr; }
  /// Issues that accumulators are as before the first step: all zero. For a
  /// step without its update, which would have left them so.
  Status dropGradients();
  /// Issues rows [first, end) of an entry's timeline; stops at the first row
  /// that is known to fail. `observer` may be null. Allocates nothing, but
  /// where a device keeps the rows (KeptWalks).
  Status walk(const EntryInfo &entry, int64_t first, int64_t end,
              DataLoader &loader, Observer *observer = nullptr);
  /// Whether such a walk, if nobody observes it, is issued as a whole: then
  /// another one with LeavesInputs, two steps later, has the same inputs.
  bool isKept(const EntryInfo &entry, int64_t first, int64_t end) const;
  /// Whether walks are kept where the device can; they are at first. A walk
  /// that is observed or traced never is.
  void keepWalks(bool keeps) { keeps_ = keeps; }
  /// Whether a walk that nobody observes would be kept now. Where a device
  /// keeps walks, it obeys the guards of `apply`: the host need not look at the
  /// norm before it issues that.
  bool keepsWalks() const {
    return keeps_ && !trace_ && parts_.device->keeper();
  }
  /// Notes from now on what is done when, which `trace` keeps; null: no more.
  /// Only between steps.
  void traceTo(RankTrace *trace);
  /// Times ops and rows from now on, which `profile` sums; null: no more. Only
  /// between steps, and without a trace. Of devices that do at once what they
  /// are given.
  void profileTo(RankProfile *profile);
  /// Notes from now on what the host does to issue a walk that the device
  /// keeps, but for one that it keeps at that time; null: no more.
  void noteIssue(HostIssue *issue) { issue_ = issue; }
  /// Waits for all that was issued. Returns the first failure of the rank.
  Status complete();
  /// Issues that the results of the step that began last come to the host.
  Status endStep();
  /// Waits for the results of the first step that was ended and not read, and
  /// for all in front of them.
  Status readResult(StepResult &out);

  /// Where a row of one of its timelines stands; none for any other.
  std::optional<RowOfEntry> place(const MtcStep &row) const;
  /// The transfers of a row that has some.
  std::span<const MtcTransfer> transfers(const MtcStep &row) const {
    return {parts_.program.transfers + row.first,
            static_cast<size_t>(row.count)};
  }

  // For the functions of abi.h.
  Status gemm(int64_t index, const GemmOperands &operands);
  /// Whether a row of `gemms` adds to the norm; false of no such row.
  bool countsSquares(int64_t index) const;
  Status pack(const PackOperands &operands) {
    return parts_.device->pack(operands);
  }
  void record(int64_t event, MtcStream stream);
  Status wait(int64_t event, MtcStream stream);
  /// Issues a collective on a stream. With one queue that is the rank's. Of
  /// what runs on that of collectives, beside fragments, there is no reader.
  Status collective(MtcStream stream, const CollectiveCall &call, void *buffer,
                    SumReader *reader);
  /// Sums the norm over a group.
  Status reduceNorm(MtcStream stream, MtcGroup group);
  /// Takes the result of a call: the first failure becomes the context's status
  /// and makes the other ranks' calls fail.
  void accept(Status status);
  /// ok, or the first failure with its message.
  Status failure() const;

private:
  explicit RankState(RankParts parts);
  Status initialize();
  Status checkStage() const;
  void collectTimelines();
  Status walkRows(const RowRange &range, DataLoader &loader,
                  Observer *observer);
  /// Whether the rows were walked one by one, alone or as a part of others.
  bool isPrepared(const RowRange &range) const;
  Status walkKept(WorkKeeper &keeper, const RowRange &range,
                  DataLoader &loader);
  /// Issues what stands in front of a step's rows, if nobody has: its block,
  /// and a loss of 0.
  Status issueBegin();
  /// Issues that the device makes the block of what it was told, and clears
  /// gradients that a skipped step left.
  void beginOnDevice(DeviceCalls &device);
  /// Makes the parts of a walk.
  Status keep(WorkKeeper &keeper, const RowRange &range, DataLoader &loader,
              KeptWalk &walk);
  void beginPart(WorkKeeper &keeper);
  void endPart(WorkKeeper &keeper, KeptPhase &phase);
  /// Rows of `rest` up to `end`, in the part that was begun, and in more where
  /// that is full.
  void keepTo(WorkKeeper &keeper, int64_t end, RowRange &rest,
              DataLoader &loader, KeptPhase &phase);
  /// Rows of `rest` up to the first repeat of the period, and that. If it seems
  /// that one part has no room for all of the walk, then also a phase of as
  /// many repeats as one has room for, or of one, for as long as there are as
  /// many; what is left is behind them.
  void keepPeriod(WorkKeeper &keeper, RowRange &rest, DataLoader &loader,
                  KeptWalk &walk);
  /// Tells the device that rows are those of so many repeats later.
  void moveOn(const EntryInfo &entry, int64_t repeats);
  /// Keeps that the next input of the walk comes to the arena.
  Status takeInput(const ArenaOffset &to, int64_t bytes);
  /// Of all inputs that these rows load.
  int64_t inputBytes(const RowRange &range);
  /// Makes room for its inputs.
  Status openInputs(WorkKeeper &keeper, const RowRange &range, KeptWalk &walk);
  /// The same as issueBegin, with the order from the inputs of the walk.
  void keepBegin(WorkKeeper &keeper);
  /// The loss into the block.
  void keepEnd(WorkKeeper &keeper);
  /// Fills those of the step, and issues that they go to the device.
  void sendInputs(WorkKeeper &keeper, const RowRange &range, DataLoader &loader,
                  const KeptWalk &walk);
  /// Calls `load` for each input that a row of LOAD has.
  template <typename Load>
  Status forEachInput(const EntryInfo &entry, const MtcStep &row, Load &&load);
  Status load(const EntryInfo &entry, const MtcStep &row, DataLoader &loader);
  Status issue(const EntryInfo &entry, const MtcStep &row, DataLoader &loader);
  Status perform(const EntryInfo &entry, const MtcStep &row,
                 DataLoader &loader);
  /// The same without a look at the clock.
  Status performUntimed(const EntryInfo &entry, const MtcStep &row,
                        DataLoader &loader);
  /// What is noted of the row that is walked, or of a call in it.
  FlightNote noteOf(FlightKind kind) const;

  RankParts parts_;
  MtcContext context_{};
  StepSlots slots_;
  std::optional<Staging> inputs_;
  Status failure_;
  std::vector<const MtcStep *> timelines_; ///< by entry of the descriptor
  RankTrace *trace_ = nullptr;
  RankProfile *profile_ = nullptr;
  HostIssue *issue_ = nullptr;
  const MtcStep *row_ = nullptr;  ///< that is walked; null: none
  const MtcStep *rows_ = nullptr; ///< of its entry
  int32_t collectives_ = 0;       ///< that the row has issued
  bool keeps_ = true;
  bool isBegun_ = true;     ///< no step waits for what it begins with
  bool bringsLoss_ = false; ///< what was walked put the loss into the block
  KeptWalks kept_;
  bool isKeeping_ = false;         ///< rows that are walked do not run
  std::byte *keptInput_ = nullptr; ///< of the next row that is kept
  int64_t keptStride_ = 0; ///< from repeat to repeat; 0: nothing repeats
};

template <typename Load>
Status RankState::forEachInput(const EntryInfo &entry, const MtcStep &row,
                               Load &&load) {
  for (const InputInfo &in : descriptor().inputs) {
    int64_t slot = context_.slots[row.slots + in.pool];
    if (in.entry != entry.name || slot < 0) // a slot of another pool
      continue;
    MTC_RETURN_IF_ERROR(load(
        in, ArenaOffset{MTC_ARENA_ACTIVATIONS, slot * in.stride + in.offset}));
  }
  return Status::okay();
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_RANK_H

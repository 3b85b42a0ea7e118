//===- rank.cpp - one rank of a running program ---------------------------===//

#include "runtime/program/rank.h"

#include "mtc/runtime/step_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <utility>

namespace mtc::runtime {

/// What is mapped must be what was planned, to the byte.
static Status checkArenas(const ArenaSizes &planned, const ArenaViews &views) {
  for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind) {
    if (views[kind].bytes != planned[kind])
      return {StatusCode::internal,
              fmt::format("arena {}: the plan says {} bytes, {} are mapped",
                          kArenas[kind].name, planned[kind],
                          views[kind].bytes)};
    if (reinterpret_cast<uintptr_t>(views[kind].base) % 4096 != 0)
      return {StatusCode::internal,
              fmt::format("arena {}: the base is not 4096-aligned",
                          kArenas[kind].name)};
  }
  return Status::okay();
}

RankState::RankState(RankParts parts) : parts_(std::move(parts)) {}

Status RankState::create(RankParts parts, std::unique_ptr<RankState> &out) {
  std::unique_ptr<RankState> rank(new RankState(std::move(parts)));
  MTC_RETURN_IF_ERROR(rank->initialize());
  out = std::move(rank);
  return Status::okay();
}

Status RankState::initialize() {
  const Descriptor &d = descriptor();
  MTC_RETURN_IF_ERROR(checkStage());
  MTC_RETURN_IF_ERROR(checkArenas(d.arenas, parts_.device->arenas()));
  MTC_RETURN_IF_ERROR(checkProgram(parts_.program, d));
  collectTimelines();
  Mesh::Coordinates at = mesh().coordinates(parts_.rank);
  for (const AxisInfo &axis : kAxes) {
    context_.coord[axis.id] = at[axis.id];
    context_.extent[axis.id] = mesh()[axis.id];
  }
  for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind)
    context_.arena[kind] = parts_.device->arenas()[kind].base;
  context_.threads = static_cast<int32_t>(descriptor().threads);
  context_.slots = parts_.program.slots;
  context_.runtime = this;
  MTC_RETURN_IF_ERROR(parts_.device->load(parts_.program));
  context_.device = parts_.device->calls();
  context_.kernel_workspace = parts_.device->kernelWorkspace();
  if (!context_.device)
    context_.block = &stepState(&context_).block;
  inputs_.emplace(stream());
  return slots_.open(parts_.device->keeper());
}

Status RankState::checkStage() const {
  const Descriptor &d = descriptor();
  if (parts_.rank < 0 || parts_.rank >= mesh().worldSize())
    return {StatusCode::usage, fmt::format("rank {} of a mesh of {} ranks",
                                           parts_.rank, mesh().worldSize())};
  int64_t stage = mesh().coordinate(parts_.rank, MTC_AXIS_PP);
  if (stage != d.stage)
    return {StatusCode::inputRejected,
            fmt::format("rank {} runs stage {}, but its program is that of "
                        "stage {}",
                        parts_.rank, stage, d.stage)};
  return Status::okay();
}

void RankState::collectTimelines() {
  for (const EntryInfo &entry : descriptor().entries)
    timelines_.push_back(parts_.program.timeline(entry.name));
}

std::optional<RowOfEntry> RankState::place(const MtcStep &row) const {
  for (size_t i = 0; i < timelines_.size(); ++i) {
    const EntryInfo &entry = descriptor().entries[i];
    if (timelines_[i] && !std::less<>()(&row, timelines_[i]) &&
        std::less<>()(&row, timelines_[i] + entry.length))
      return RowOfEntry{&entry, &row - timelines_[i]};
  }
  return std::nullopt;
}

bool RankState::logs() const {
  return onLastStage() && mesh().moved(parts_.rank, MTC_AXIS_PP, 0) == 0;
}

Status RankState::walk(const EntryInfo &entry, int64_t first, int64_t end,
                       DataLoader &loader, Observer *observer) {
  RowRange range{&entry, first, end};
  bool keeps = keepsWalks() && !observer && first < end;
  return keeps ? walkKept(*parts_.device->keeper(), range, loader)
               : walkRows(range, loader, observer);
}

Status RankState::walkRows(const RowRange &range, DataLoader &loader,
                           Observer *observer) {
  const EntryInfo &entry = *range.entry;
  MTC_RETURN_IF_ERROR(issueBegin());
  rows_ = timelines_[&entry - descriptor().entries.data()];
  for (row_ = rows_ + range.first; row_ != rows_ + range.end; ++row_) {
    accept(issue(entry, *row_, loader));
    if (observer && row_->kind == MTC_STEP_RUN && context_.status == 0)
      accept(observer->issued(*row_));
    if (context_.status != 0)
      return failure();
  }
  row_ = nullptr; // what a device runs later is of no row
  return Status::okay();
}

/// What a row is in a trace.
static TraceKind kindOf(const MtcStep &row) {
  switch (row.kind) {
  case MTC_STEP_LOAD:
    return TraceKind::load;
  case MTC_STEP_EXCHANGE:
    return TraceKind::exchange;
  case MTC_STEP_POST:
    return TraceKind::post;
  case MTC_STEP_WAIT:
    return TraceKind::waitTransfers;
  }
  return TraceKind::fragment;
}

/// What a row is in a flight record.
static FlightKind flightKindOf(const MtcStep &row) {
  switch (row.kind) {
  case MTC_STEP_LOAD:
    return FlightKind::load;
  case MTC_STEP_EXCHANGE:
    return FlightKind::exchange;
  case MTC_STEP_POST:
    return FlightKind::post;
  case MTC_STEP_WAIT:
    return FlightKind::wait;
  }
  return FlightKind::fragment;
}

FlightNote RankState::noteOf(FlightKind kind) const {
  FlightNote note;
  note.kind = kind;
  if (!row_)
    return note;
  note.row = static_cast<int32_t>(row_ - rows_);
  if (row_->kind == MTC_STEP_RUN)
    note.fragment = row_->fragment;
  if (row_->kind == MTC_STEP_RUN || row_->kind == MTC_STEP_LOAD)
    note.microbatch = row_->microbatch;
  return note;
}

Status RankState::issue(const EntryInfo &entry, const MtcStep &row,
                        DataLoader &loader) {
  if (!parts_.flight || isKeeping_)
    return perform(entry, row, loader);
  collectives_ = 0;
  FlightRecorder &recorder = parts_.flight->recorder();
  uint64_t number = recorder.begin(noteOf(flightKindOf(row)));
  Status status = perform(entry, row, loader);
  if (status.ok() && context_.status == 0)
    recorder.end(number);
  return status;
}

Status RankState::perform(const EntryInfo &entry, const MtcStep &row,
                          DataLoader &loader) {
  if (!profile_)
    return performUntimed(entry, row, loader);
  int64_t begin = traceNow();
  Status status = performUntimed(entry, row, loader);
  profile_->rowEnds(row, {begin, traceNow()});
  return status;
}

Status RankState::performUntimed(const EntryInfo &entry, const MtcStep &row,
                                 DataLoader &loader) {
  TraceScope scope(trace_, {kindOf(row), &row});
  switch (row.kind) {
  case MTC_STEP_LOAD:
    return load(entry, row, loader);
  case MTC_STEP_RUN:
    return stream().launch(parts_.program.fragments[row.fragment], &context_,
                           &row);
  case MTC_STEP_EXCHANGE:
    if (parts_.flight && parts_.device->exchanges() && !isKeeping_)
      parts_.flight->issued(transfers(row));
    return comm().exchange(transfers(row));
  case MTC_STEP_POST:
    return comm().post(transfers(row));
  case MTC_STEP_WAIT:
    return comm().wait(transfers(row));
  }
  return Status::okay();
}

void RankState::traceTo(RankTrace *trace) {
  trace_ = trace;
  if (CommStream *comms = parts_.device->commStream())
    comms->traceTo(trace ? &trace->commTimes : nullptr);
}

void RankState::profileTo(RankProfile *profile) {
  profile_ = profile;
  context_.profile = profile;
  if (CommStream *comms = parts_.device->commStream())
    comms->traceTo(profile ? &profile->commTimes : nullptr);
}

Status RankState::load(const EntryInfo &entry, const MtcStep &row,
                       DataLoader &loader) {
  int64_t bytes = descriptor().inputBytes(entry);
  return forEachInput(
      entry, row, [&](const InputInfo &in, ArenaOffset to) -> Status {
        if (isKeeping_)
          return takeInput(to, bytes);
        std::byte *tokens = nullptr;
        MTC_RETURN_IF_ERROR(inputs_->next(bytes, tokens));
        MTC_RETURN_IF_ERROR(loader.load(in, row.microbatch,
                                        reinterpret_cast<int32_t *>(tokens)));
        return inputs_->send(to, 0, bytes);
      });
}

Status RankState::dropGradients() {
  accept(stream().fill({MTC_ARENA_GRADS, 0}, 0,
                       descriptor().arenas[MTC_ARENA_GRADS]));
  return failure();
}

Status RankState::beginStep(const MtcStepOrder &order) {
  if (parts_.flight)
    parts_.flight->recorder().setStep(order.block.step);
  StepSlot &slot = slots_.turn();
  accept(stream().wait(slot.done));
  slot.messages->order = order;
  if (context_.device)
    context_.block = &slot.messages->order.block;
  isBegun_ = bringsLoss_ = false;
  return failure();
}

Status RankState::issueBegin() {
  if (std::exchange(isBegun_, true))
    return failure();
  const MtcStepOrder &order = slots_.current().messages->order;
  if (DeviceCalls *device = DeviceCalls::of(&context_)) {
    accept(stream().copyIn(kStepOrder, &order, sizeof order));
    beginOnDevice(*device);
  } else {
    accept(stream().copyIn(kStepBlock, &order.block, sizeof order.block));
  }
  accept(stream().fill(loss(), 0, sizeof(float)));
  return failure();
}

void RankState::beginOnDevice(DeviceCalls &device) {
  if (context_.status != 0)
    return;
  MtcStepState &state = stepState(&context_);
  device.stepBegin(&state);
  if (descriptor().scalesLoss())
    device.zero(context_.arena[MTC_ARENA_GRADS],
                descriptor().arenas[MTC_ARENA_GRADS], &state.skipped);
}

Status RankState::complete() {
  accept(stream().wait(stream().record()));
  if (parts_.flight && parts_.device->exchanges() && failure().ok())
    parts_.flight->completed(parts_.flight->recorder().count());
  return failure();
}

Status RankState::endStep() {
  StepSlot &slot = slots_.current();
  StepFound &found = slot.messages->found;
  accept(stream().copyOut(kStepBlock, &found, sizeof found));
  if (!bringsLoss_)
    accept(stream().copyOut(loss(), &found.block.loss, sizeof(float)));
  slot.done = stream().record();
  if (parts_.flight)
    slot.notes = parts_.flight->recorder().count();
  slots_.end();
  return failure();
}

Status RankState::readResult(StepResult &out) {
  const StepSlot &slot = slots_.read();
  accept(stream().wait(slot.done));
  if (!failure().ok())
    return failure();
  if (parts_.flight && parts_.device->exchanges())
    parts_.flight->completed(slot.notes);
  const StepFound &found = slot.messages->found;
  out.loss = found.block.loss;
  out.gradNorm = found.block.grad_norm;
  out.applies = found.block.applies != 0;
  out.block = found.block;
  out.updates = found.updates;
  return Status::okay();
}

Status RankState::gemm(int64_t index, const GemmOperands &operands) {
  bool isTraced = trace_ && trace_->products;
  TraceScope scope(isTraced ? trace_ : nullptr, {TraceKind::gemm, row_});
  return parts_.device->gemm(index, operands);
}

bool RankState::countsSquares(int64_t index) const {
  const std::vector<GemmInfo> &rows = descriptor().gemms;
  return index >= 0 && index < std::ssize(rows) && rows[size_t(index)].counts;
}

Status RankState::collective(MtcStream stream, const CollectiveCall &call,
                             void *buffer, SumReader *reader) {
  TraceSpan span{TraceKind::collective, row_, call, buffer};
  CommStream *comms = parts_.device->commStream();
  if (parts_.flight && !isKeeping_) {
    FlightNote note = noteOf(FlightKind::collective);
    note.call = call;
    note.index = collectives_++;
    if (parts_.device->exchanges())
      parts_.flight->issued(note);
    else
      parts_.flight->issue(note,
                           /*atOnce=*/!comms || stream != MTC_STREAM_COMM);
  }
  if (comms && stream == MTC_STREAM_COMM) {
    assert(!reader);
    if (trace_)
      trace_->issued.push_back(span);
    if (profile_)
      profile_->issued();
    return comms->collective(call, buffer);
  }
  TraceScope scope(trace_, span);
  return comm().collective(call, buffer, reader);
}

void RankState::record(int64_t event, MtcStream stream) {
  if (CommStream *comms = parts_.device->commStream())
    comms->record(event, stream);
}

Status RankState::wait(int64_t event, MtcStream stream) {
  CommStream *comms = parts_.device->commStream();
  if (!comms || stream != MTC_STREAM_COMPUTE)
    return comms ? comms->wait(event, stream) : Status::okay();
  TraceScope scope(trace_, {TraceKind::waitEvent, row_});
  return comms->wait(event, stream);
}

Status RankState::reduceNorm(MtcStream stream, MtcGroup group) {
  // The reduction saturates, so "not finite" stays so.
  return collective(
      stream,
      {CollectiveKind::allReduce, group, MTC_SUM, MTC_I128, MTC_NORM_LIMBS},
      address({MTC_ARENA_STEP, offsetof(MtcStepState, norm)}), nullptr);
}

void RankState::accept(Status status) {
  if (status.ok() || context_.status != 0)
    return;
  context_.status = static_cast<int32_t>(status.code());
  failure_ = std::move(status);
  // The others may be waiting for this rank; it will not come.
  comm().abort();
}

Status RankState::failure() const {
  if (context_.status == 0 || !failure_.ok())
    return failure_;
  return {static_cast<StatusCode>(context_.status),
          "a kernel rejected its arguments"};
}

} // namespace mtc::runtime

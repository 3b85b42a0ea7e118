//===- rank.cpp - one rank of a running program ---------------------------===//

#include "runtime/program/rank.h"

#include "runtime/kernels/cpu/isa.h"

#include <fmt/format.h>

#include <cstring>

namespace mtc::runtime {

Status prepareProcess(const Descriptor &d) {
  MTC_RETURN_IF_ERROR(mtc_kernels_select_isa(d.isa));
  if (d.gemms.empty())
    return Status::okay();
  MTC_RETURN_IF_ERROR(gemmSelectIsa(d.isa));
  std::string found = gemmLibraryVersion();
  if (!d.onednn.empty() && found.compare(0, d.onednn.size(), d.onednn) != 0)
    return {StatusCode::infeasible,
            fmt::format("the program was planned for oneDNN {}, found {}; "
                        "compile it again on this host",
                        d.onednn, found)};
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
  MTC_RETURN_IF_ERROR(checkPlace());
  MTC_RETURN_IF_ERROR(checkArenas(d.arenas, parts_.arenas));
  MTC_RETURN_IF_ERROR(checkProgram(parts_.program, d));
  MTC_RETURN_IF_ERROR(createGemms());
  collectTimelines();
  Mesh::Coordinates at = mesh().coordinates(parts_.rank);
  for (const AxisInfo &axis : kAxes) {
    context_.coord[axis.id] = at[axis.id];
    context_.extent[axis.id] = mesh()[axis.id];
  }
  for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind)
    context_.arena[kind] = parts_.arenas[kind].base;
  context_.runtime = this;
  return Status::okay();
}

Status RankState::checkPlace() const {
  const Descriptor &d = descriptor();
  if (parts_.rank < 0 || parts_.rank >= mesh().worldSize())
    return {StatusCode::usage, fmt::format("rank {} of a mesh of {} ranks",
                                           parts_.rank, mesh().worldSize())};
  int64_t stage = mesh().coordinate(parts_.rank, MTC_AXIS_PP);
  if (stage != d.stage)
    return {StatusCode::inputRefused,
            fmt::format("rank {} runs stage {}, but its program is that of "
                        "stage {}",
                        parts_.rank, stage, d.stage)};
  return Status::okay();
}

Status RankState::createGemms() {
  const Descriptor &d = descriptor();
  if (d.gemms.empty())
    return Status::okay();
  std::vector<GemmDesc> rows;
  for (const GemmInfo &g : d.gemms)
    rows.push_back({g.m, g.n, g.k, g.ta, g.tb, g.beta, g.ab, g.c});
  MTC_RETURN_IF_ERROR(gemms_.create(rows, static_cast<int>(d.threads)));
  // Less scratch than the library needs would let it write over its neighbours.
  for (size_t i = 0; i < rows.size(); ++i)
    if (gemms_.scratchBytes(i) > d.gemms[i].scratch)
      return {StatusCode::infeasible,
              fmt::format("gemm {}: the plan has {} bytes of scratch, the "
                          "library on this host needs {}; compile here",
                          i, d.gemms[i].scratch, gemms_.scratchBytes(i))};
  return Status::okay();
}

Status RankState::gemm(int32_t index, const void *a, const void *b, void *c,
                       void *scratch) {
  return gemms_.execute(index, a, b, c, scratch);
}

void RankState::collectTimelines() {
  for (const EntryInfo &entry : descriptor().entries)
    timelines_.push_back(parts_.program.timeline(entry.name));
}

bool RankState::logs() const {
  return onLastStage() && mesh().moved(parts_.rank, MTC_AXIS_PP, 0) == 0;
}

Status RankState::walk(const EntryInfo &entry, int64_t first, int64_t end,
                       Feed &feed, Observer *observer) {
  const MtcStep *rows = timelines_[&entry - descriptor().entries.data()];
  for (const MtcStep *row = rows + first; row != rows + end; ++row) {
    switch (row->kind) {
    case MTC_STEP_LOAD:
      accept(load(entry, *row, feed));
      break;
    case MTC_STEP_RUN:
      parts_.program.fragments[row->fragment](&context_, row);
      if (observer && context_.status == 0)
        accept(observer->ran(*row));
      break;
    case MTC_STEP_EXCHANGE:
      accept(comm().exchange({parts_.program.transfers + row->first,
                              static_cast<size_t>(row->count)}));
      break;
    }
    if (context_.status != 0)
      return failure();
  }
  return Status::okay();
}

Status RankState::load(const EntryInfo &entry, const MtcStep &row, Feed &feed) {
  for (const InputInfo &in : descriptor().inputs)
    if (in.entry == entry.name)
      MTC_RETURN_IF_ERROR(
          feed.load(in, row.microbatch,
                    at<int32_t>(MTC_ARENA_ACTIVATIONS,
                                row.slot[in.pool] * in.stride + in.offset)));
  return Status::okay();
}

Status RankState::reduceNorm(MtcGroup group) {
  // Small operands may lie outside the arenas; the reduction saturates, so "not
  // finite" stays so.
  static_assert(sizeof norm_.units <= kAnywhereBytes);
  return comm().allReduce(group, MTC_SUM, MTC_I128, &norm_.units, 1);
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
          "a kernel refused its arguments"};
}

} // namespace mtc::runtime

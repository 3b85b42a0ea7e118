//===- slots.cpp - values in slots over a timeline ------------------------===//
//
// An abstract run of each stage: bytes of the activation arena hold names of
// values instead of values. One step is enough, from an arena that holds
// nothing: what a step reads must be made in the step.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/byte_map.h"
#include "passes/verify/checks.h"
#include "passes/verify/fragment_values.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

enum class Source { Load, Run, Receive };

/// The name of what lies in some bytes.
struct Named {
  int64_t begin = 0, end = 0;
  Source source = Source::Run;
  int64_t microbatch = 0;
  std::optional<MtcPool> pool; ///< of a run: where it wrote
  int64_t virtualStage = 0;    ///< that made it
  CrossingName name;           ///< received
  Operation *row = nullptr;
};

class SlotWalker {
public:
  SlotWalker(const Model &model, const Stage &stage,
             const std::map<const Fragment *, SlotSummary> &summaries,
             Report &report)
      : model(model), stage(stage), summaries(summaries), report(report) {}

  void walk(StringRef entry, const Timeline &timeline) {
    this->entry = entry;
    for (const Row &row : timeline.rows) {
      if (row.exchange)
        exchange(row.exchange);
      else if (row.isLoad())
        load(row);
      else if (row.fragment)
        run(row);
    }
  }

private:
  int64_t virtualStage(const Row &row) const {
    return row.fragment ? model.virtualStage(*row.fragment) : stage.index;
  }

  /// First byte of `e` in the slot that `row` names; false (reported) without
  /// one.
  bool resolve(const Row &row, const Extent &e, Operation *user,
               int64_t &begin) {
    std::optional<int64_t> slot = row.slot(*e.pool);
    if (!slot) {
      auto diag = report.error(row.op)
                  << "expected a slot of pool " << poolName(*e.pool)
                  << ", which this row uses, found none";
      diag.attachNote(user->getLoc()) << "used here";
      return false;
    }
    begin = e.offset + *slot * e.stride;
    return true;
  }

  void write(Named value) {
    bytes.write(value.begin, value.end, values.size());
    values.push_back(value);
  }

  void load(const Row &row) {
    for (auto input : stage.op.getOps<rt::InputSlotOp>()) {
      if (input.getEntry() != entry)
        continue;
      Extent e{MTC_ARENA_ACTIVATIONS, input.getOffset(), model.inputBytes,
               input.getPool(), input.getStride()};
      int64_t begin;
      if (resolve(row, e, input, begin))
        write({begin,
               begin + e.bytes,
               Source::Load,
               row.microbatch,
               e.pool,
               virtualStage(row),
               {},
               row.op});
    }
  }

  void run(const Row &row) {
    const SlotSummary &summary = summaries.at(row.fragment);
    int64_t begin;
    for (const SlotUse &use : summary.reads)
      if (resolve(row, use.extent, use.op, begin))
        read(row, use, begin);
    for (const SlotUse &use : summary.writes)
      if (resolve(row, use.extent, use.op, begin))
        write({begin,
               begin + use.extent.bytes,
               Source::Run,
               row.microbatch,
               use.extent.pool,
               virtualStage(row),
               {},
               row.op});
  }

  void read(const Row &row, const SlotUse &use, int64_t begin) {
    int64_t end = begin + use.extent.bytes;
    MtcPool pool = *use.extent.pool;
    ByteMap::Content content = bytes.read(begin, end);
    const Named *value = content.value >= 0 ? &values[content.value] : nullptr;
    if (value && value->microbatch == row.microbatch &&
        fits(*value, row, pool, begin, end))
      return;
    auto diag = report.error(row.op);
    diag << "expected \"" << row.fragment->name() << "\" of microbatch "
         << row.microbatch << " to find its value in slot " << *row.slot(pool)
         << " of pool " << poolName(pool) << " (bytes " << begin << " to "
         << end << "), found ";
    describe(diag, value, content);
    diag.attachNote(use.op->getLoc()) << "read here";
  }

  bool fits(const Named &value, const Row &row, MtcPool pool, int64_t begin,
            int64_t end) const {
    if (value.source != Source::Receive)
      return value.begin == begin && value.end == end;
    // A transfer has the size of a slot, which may be more than the value.
    auto crossing =
        model.arriving.find({entry.str(), value.name, virtualStage(row)});
    return crossing != model.arriving.end() &&
           pool == receivePool(value.name) &&
           value.virtualStage ==
               int64_t(pipe::CrossingOp(crossing->second).getFrom()) &&
           value.begin == begin && end <= value.end;
  }

  void describe(InFlightDiagnostic &diag, const Named *value,
                const ByteMap::Content &content) {
    if (content.other < 0) {
      diag << "nothing written in this step";
      return;
    }
    if (!value) {
      value = &values[content.other];
      diag << (content.gap ? "bytes never written, and "
                           : "several values, one ");
    }
    StringRef how = value->source == Source::Load      ? "loaded"
                    : value->source == Source::Receive ? "received"
                                                       : "written";
    diag << "what was " << how << " for microbatch " << value->microbatch
         << " at bytes " << value->begin << " to " << value->end;
    diag.attachNote(value->row->getLoc()) << how << " here";
  }

  void exchange(rt::ExchangeOp op) {
    // Atomic: what is sent is what was there before.
    for (auto t : op.getTransfers().getAsRange<rt::TransferAttr>())
      if (t.getSend())
        send(op, t);
    for (auto t : op.getTransfers().getAsRange<rt::TransferAttr>())
      if (!t.getSend()) {
        Tag tag = t.getTag().tag();
        write({t.getOffset(), t.getOffset() + t.getBytes(), Source::Receive,
               tag.microbatch, receivePool(tag.value), tag.virtualStage,
               tag.value, op});
      }
  }

  void send(rt::ExchangeOp op, rt::TransferAttr t) {
    Tag tag = t.getTag().tag();
    int64_t begin = t.getOffset();
    MtcPool pool = sendPool(tag.value);
    ByteMap::Content content = bytes.read(begin, begin + 1);
    const Named *value = content.value >= 0 ? &values[content.value] : nullptr;
    if (value && value->source == Source::Run && value->begin == begin &&
        value->microbatch == tag.microbatch && value->pool == pool &&
        value->virtualStage == tag.virtualStage) {
      if (value->end > begin + t.getBytes())
        report.error(op) << "expected a transfer of all " << value->end - begin
                         << " bytes of the value, found " << t.getBytes();
      if (bytes.read(begin, value->end).value != content.value)
        report.error(op) << "expected to send a whole value, found that "
                            "another was written over "
                            "a part of bytes "
                         << begin << " to " << value->end;
      return;
    }
    auto diag = report.error(op)
                << "expected to send the " << tag.value.text()
                << " of microbatch " << tag.microbatch << " from virtual stage "
                << tag.virtualStage << ", which lies in pool " << poolName(pool)
                << ", found at byte " << begin << " ";
    describe(diag, value, content);
  }

  const Model &model;
  const Stage &stage;
  const std::map<const Fragment *, SlotSummary> &summaries;
  Report &report;
  StringRef entry;
  ByteMap bytes;
  std::vector<Named> values;
};

/// Exports of a fragment that lie in the workspace, with their bytes.
SmallVector<SlotUse> exportsOf(const Stage &stage, const Fragment &fragment) {
  SmallVector<SlotUse> uses;
  for (auto op : stage.op.getOps<rt::ExportSlotOp>())
    if (op.getFragment() == fragment.name() &&
        op.getArena() == MTC_ARENA_WORKSPACE)
      uses.push_back(
          {{MTC_ARENA_WORKSPACE, op.getOffset(), rt::bytesOf(op.getType())},
           op});
  return uses;
}

} // namespace

void checkValues(const Model &model, Report &report) {
  for (const Stage &stage : model.stages) {
    std::map<const Fragment *, SlotSummary> summaries; // looked up only
    for (const Fragment &fragment : stage.fragments)
      summaries[&fragment] =
          walkFragment(fragment, exportsOf(stage, fragment), report);
    for (auto &[entry, timeline] : stage.timelines)
      SlotWalker(model, stage, summaries, report).walk(entry, timeline);
  }
}

} // namespace mtc::passes::verify

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
#include "passes/verify/posted_bytes.h"

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
  const Row *row = nullptr;
};

class SlotWalker {
public:
  SlotWalker(const Model &model, const Stage &stage,
             const std::map<const Fragment *, SlotSummary> &summaries,
             Report &report)
      : model(model), stage(stage), summaries(summaries), report(report) {}

  void walk(StringRef entry, const Timeline &timeline) {
    this->entry = entry;
    rows = &timeline.rows;
    for (auto input : stage.op.getOps<rt::InputSlotOp>())
      if (input.getEntry() == entry)
        inputs.push_back(
            {{MTC_ARENA_ACTIVATIONS, input.getOffset(), model.inputBytes,
              input.getPool(), input.getStride()},
             input});
    for (const Row &row : timeline.rows)
      mostWrites = std::max(mostWrites, writesOf(row));
    for (const Row &row : timeline.rows) {
      if (row.isExchange())
        exchange(row);
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
      auto diag = report.error(row)
                  << "expected a slot of pool " << poolName(*e.pool)
                  << ", which this row uses, found none";
      diag.attachNote(user->getLoc()) << "used here";
      return false;
    }
    begin = saturatingAdd(e.offset, saturatingMul(*slot, e.stride));
    return true;
  }

  int64_t writesOf(const Row &row) const {
    if (row.isExchange())
      return row.getTransfers().size();
    if (row.isLoad())
      return inputs.size();
    return row.fragment ? summaries.at(row.fragment).writes.size() : 0;
  }

  /// The bytes now hold what `row` writes as number `use`. Only the number is
  /// kept: a long timeline writes many values, and few of them lie anywhere.
  void write(int64_t begin, int64_t end, const Row &row, int64_t use) {
    posted.checkWrite(row, begin, end, report);
    bytes.write(begin, end, (&row - rows->data()) * mostWrites + use);
  }

  /// The value of a number that write() made.
  Named named(int64_t number) const {
    const Row &row = (*rows)[number / mostWrites];
    int64_t use = number % mostWrites;
    if (row.isExchange())
      return received(row, row.getTransfers()[use]);
    const SlotUse &of =
        row.isLoad() ? inputs[use] : summaries.at(row.fragment).writes[use];
    int64_t begin = saturatingAdd(
        of.extent.offset,
        saturatingMul(*row.slot(*of.extent.pool), of.extent.stride));
    return {begin,
            begin + of.extent.bytes,
            row.isLoad() ? Source::Load : Source::Run,
            row.microbatch,
            of.extent.pool,
            virtualStage(row),
            {},
            &row};
  }

  static Named received(const Row &row, const rt::Transfer &t) {
    const Tag &tag = t.tag;
    return {t.offset,
            t.offset + t.bytes,
            Source::Receive,
            tag.microbatch,
            receivePool(tag.value),
            tag.virtualStage,
            tag.value,
            &row};
  }

  void writeAll(const Row &row, ArrayRef<SlotUse> uses) {
    int64_t begin;
    for (auto [number, use] : llvm::enumerate(uses))
      if (resolve(row, use.extent, use.op, begin))
        write(begin, begin + use.extent.bytes, row, number);
  }

  /// Inputs lie in slots of a pool that the row names, where there are several.
  void load(const Row &row) {
    int64_t begin;
    for (auto [number, use] : llvm::enumerate(inputs)) {
      bool isElsewhere =
          !row.slot(*use.extent.pool) &&
          llvm::any_of(inputs, [&](const SlotUse &other) {
            return nameOf(other) == nameOf(use) && row.slot(*other.extent.pool);
          });
      if (!isElsewhere && resolve(row, use.extent, use.op, begin))
        write(begin, begin + use.extent.bytes, row, number);
    }
  }
  static StringRef nameOf(const SlotUse &input) {
    return cast<rt::InputSlotOp>(input.op).getName();
  }

  void run(const Row &row) {
    const SlotSummary &summary = summaries.at(row.fragment);
    int64_t begin;
    for (const SlotUse &use : summary.reads)
      if (resolve(row, use.extent, use.op, begin))
        read(row, use, begin);
    writeAll(row, summary.writes);
  }

  /// The value that all of some bytes hold, if one does.
  std::optional<Named> whole(const ByteMap::Content &content) const {
    if (content.value < 0)
      return std::nullopt;
    return named(content.value);
  }

  void read(const Row &row, const SlotUse &use, int64_t begin) {
    int64_t end = begin + use.extent.bytes;
    MtcPool pool = *use.extent.pool;
    posted.checkRead(row, begin, end, report);
    ByteMap::Content content = bytes.read(begin, end);
    std::optional<Named> value = whole(content);
    if (value && value->microbatch == row.microbatch &&
        fits(*value, row, pool, begin, end))
      return;
    auto diag = report.error(row);
    diag << "expected \"" << row.fragment->name() << "\" of microbatch "
         << row.microbatch << " to find its value in slot " << *row.slot(pool)
         << " of pool " << poolName(pool) << " (bytes " << begin << " to "
         << end << "), found ";
    describe(diag, value, content);
    diag.attachNote(use.op->getLoc()) << "read here";
  }

  bool fits(const Named &value, const Row &row, MtcPool pool, int64_t begin,
            int64_t end) const {
    // Chunks save in the same pool, and each takes back what is its own.
    if (value.source != Source::Receive)
      return value.begin == begin && value.end == end &&
             (value.source == Source::Load ||
              value.virtualStage == virtualStage(row));
    // A transfer has the size of a slot, which may be more than the value.
    auto crossing =
        model.arriving.find({entry.str(), value.name, virtualStage(row)});
    return crossing != model.arriving.end() &&
           pool == receivePool(value.name) &&
           value.virtualStage ==
               int64_t(pipe::CrossingOp(crossing->second).getFrom()) &&
           value.begin == begin && end <= value.end;
  }

  void describe(InFlightDiagnostic &diag, std::optional<Named> value,
                const ByteMap::Content &content) {
    if (content.other < 0) {
      diag << "nothing written in this step";
      return;
    }
    if (!value) {
      value = named(content.other);
      diag << (content.gap ? "bytes never written, and "
                           : "several values, one ");
    }
    StringRef how = value->source == Source::Load      ? "loaded"
                    : value->source == Source::Receive ? "received"
                                                       : "written";
    diag << "what was " << how << " for microbatch " << value->microbatch
         << " at bytes " << value->begin << " to " << value->end;
    diag.attachNote(Site(*value->row).getLoc()) << how << " here";
  }

  void exchange(const Row &row) {
    ArrayRef<rt::Transfer> transfers = row.getTransfers();
    if (row.waits()) {
      for (const rt::Transfer &t : transfers)
        posted.wait(row, t, report);
      return;
    }
    // Atomic: what is sent is what was there before.
    for (const rt::Transfer &t : transfers)
      if (t.send)
        send(row, t);
    // What is posted is received by the time of its wait, and unread till then.
    for (auto [number, t] : llvm::enumerate(transfers))
      if (!t.send)
        write(t.offset, t.offset + t.bytes, row, number);
    if (row.posts())
      for (const rt::Transfer &t : transfers)
        posted.post(row, t);
  }

  void send(const Row &row, const rt::Transfer &t) {
    const Tag &tag = t.tag;
    int64_t begin = t.offset;
    posted.checkRead(row, begin, begin + t.bytes, report);
    MtcPool pool = sendPool(tag.value);
    ByteMap::Content content = bytes.read(begin, begin + 1);
    std::optional<Named> value = whole(content);
    if (value && value->source == Source::Run && value->begin == begin &&
        value->microbatch == tag.microbatch && value->pool == pool &&
        value->virtualStage == tag.virtualStage) {
      if (value->end > begin + t.bytes)
        report.error(row) << "expected a transfer of all " << value->end - begin
                          << " bytes of the value, found " << t.bytes;
      if (bytes.read(begin, value->end).value != content.value)
        report.error(row) << "expected to send a whole value, found that "
                             "another was written over "
                             "a part of bytes "
                          << begin << " to " << value->end;
      return;
    }
    auto diag = report.error(row)
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
  const std::vector<Row> *rows = nullptr; ///< of the entry
  int64_t mostWrites = 1;                 ///< values that a row writes
  std::vector<SlotUse> inputs;            ///< of the entry, of slot 0
  ByteMap bytes;                          ///< values by row and its write
  PostedBytes posted;
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
  forEachStage(model, report, [&](const Stage &stage, Report &found) {
    std::map<const Fragment *, SlotSummary> summaries; // looked up only
    for (const Fragment &fragment : stage.fragments)
      summaries[&fragment] =
          walkFragment(fragment, exportsOf(stage, fragment), found);
    for (auto &[entry, timeline] : stage.timelines)
      SlotWalker(model, stage, summaries, found).walk(entry, timeline);
  });
}

} // namespace mtc::passes::verify

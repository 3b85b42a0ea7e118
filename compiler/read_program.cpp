//===- read_program.cpp - one rt.program to plain values ------------------===//

#include "compiler/read_program.h"

#include "compiler/period.h"
#include "compiler/read_fragment.h"
#include "mtc/runtime/posted.h"
#include "passes/codegen/cpu_team.h"
#include "passes/target/gemm_rows.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <set>
#include <utility>

namespace mtc::compiler {
namespace {

using runtime::BucketInfo, runtime::ExportInfo, runtime::InputInfo,
    runtime::ParamInfo, runtime::SplitInfo;

BucketInfo readBucket(rt::BucketOp op) {
  BucketInfo b;
  b.secondUseOf = op.getSecondUseOf();
  b.elements = op.getElements();
  b.unpadded = op.getUnpadded();
  b.zero = op.isSharded();
  b.shardElements = op.getShard();
  if (op.getShardGradients())
    b.shardedGradients = op.gradElements();
  b.gradOffset = op.getGradOffset().value_or(-1);
  b.paramOffset = op.getParamOffset().value_or(-1);
  b.gradDtype = target::dtypeOf(op.gradType());
  b.dtype = target::dtypeOf(op.paramType());
  for (llvm::StringRef state : op.stateNames())
    b.states.push_back({state.str(), op.stateOffset(state).value_or(-1)});
  return b;
}

SplitInfo splitInfo(const dist::Split &split) {
  SplitInfo info;
  std::optional<MtcAxis> axis =
      split.axis ? axisNamed(split.axis.getValue()) : std::nullopt;
  if (axis) {
    info.dim = split.dim;
    info.axis = *axis;
  }
  return info;
}

runtime::InitInfo readInit(tfm::ParamAttr param) {
  runtime::InitInfo init;
  switch (param.getInit()) {
  case tfm::Init::Normal:
    init.kind = runtime::InitInfo::normal;
    break;
  case tfm::Init::Zeros:
    init.kind = runtime::InitInfo::zeros;
    break;
  case tfm::Init::Ones:
    init.kind = runtime::InitInfo::ones;
    break;
  }
  init.std = param.getStd().getValueAsDouble();
  return init;
}

/// Its place in the descriptor's list, from 1 on.
std::optional<int64_t> groupOf(tfm::ParamAttr param,
                               const std::vector<std::string> &groups) {
  if (!param.getGroup())
    return std::nullopt;
  return llvm::find(groups, param.getGroup().str()) - groups.begin() + 1;
}

ParamInfo readParam(rt::ParamOp op, pipe::ParameterOp of,
                    const std::vector<std::string> &groups) {
  ParamInfo p;
  dist::Split split = of.split();
  p.name = op.getName().str();
  auto shape = of.modelShape();
  p.shape.assign(shape.begin(), shape.end());
  p.localShape = of.getLocal().vec();
  p.split = splitInfo(split);
  p.split.repeats = of.getParam().ranksOfPart();
  if (tfm::SliceAttr slice = of.getParam().getSlice())
    p.slice = runtime::SliceInfo{
        slice.getOf().str(), slice.getShape().asArrayRef().vec(),
        slice.getDim(), slice.getFirst(), slice.getSize()};
  p.bucket = op.getBucket();
  p.start = op.getStart();
  p.owner = op.isOwner();
  p.decay = of.getParam().getDecay();
  p.group = groupOf(of.getParam(), groups);
  p.init = readInit(of.getParam());
  for (auto axis : of.getParam().getAxes().getAsRange<mlir::StringAttr>())
    p.layerAxes.push_back(axis.str());
  return p;
}

InputInfo readInput(rt::InputSlotOp op) {
  return {op.getName().str(), op.getPool(), op.getOffset(), op.getStride(),
          op.getEntry().str()};
}

/// The entries that run a fragment: of several shapes of steps there may be
/// more. One without a name if none does, which no program may have.
std::vector<std::string> entriesOf(const ProgramPlan &p, int64_t fragment) {
  std::vector<std::string> found;
  for (const PlanTimeline &timeline : p.timelines)
    if (llvm::any_of(timeline.rows, [&](const MtcStep &row) {
          return row.kind == MTC_STEP_RUN && row.fragment == fragment;
        }))
      found.push_back(timeline.entry);
  if (found.empty())
    found.emplace_back();
  return found;
}

/// Behind all fragments and timelines of its program. Dimension 0 is this dp
/// rank's part of the microbatch in both shapes.
ExportInfo readExport(rt::ExportSlotOp op, const ProgramPlan &p) {
  ExportInfo e;
  dist::Split split = op.split();
  e.name = op.getName().str();
  e.fragment = p.fragmentIndex(op.getFragment());
  e.arena = op.getArena();
  e.offset = op.getOffset();
  e.dtype = target::dtypeOf(op.getType().getElementType());
  dist::Split pieces = op.pieces();
  e.shape.assign(split.shape.begin(), split.shape.end());
  if (pieces.axis)
    e.shape[pieces.dim] = pieces.shape[pieces.dim];
  e.localShape = op.getType().getShape().vec();
  e.split = splitInfo(split);
  e.pieces = splitInfo(pieces);
  return e;
}

/// How many pools the rows, views and inputs of a program name.
int64_t poolCount(rt::ProgramOp program) {
  int64_t count = MTC_POOL_FIXED;
  auto use = [&](MtcPool pool) { count = std::max<int64_t>(count, pool + 1); };
  program.walk([&](mlir::Operation *op) {
    if (auto view = mlir::dyn_cast<rt::ViewOp>(op); view && view.getPool())
      use(*view.getPool());
    else if (auto input = mlir::dyn_cast<rt::InputSlotOp>(op))
      use(input.getPool());
    else if (auto timeline = mlir::dyn_cast<rt::TimelineOp>(op))
      for (rt::Row row : timeline.getRows().all())
        if (auto slots = row.getSlots())
          count = std::max<int64_t>(count, slots->getNumbers().size());
  });
  return count;
}

/// The slots of rows, one behind the other; rows with equal slots share them.
class SlotTable {
public:
  SlotTable(std::vector<int32_t> &words, int64_t pools)
      : words(words), pools(pools) {}
  int64_t add(const rt::Row &of) {
    row.assign(pools, -1);
    if (auto slots = of.getSlots())
      llvm::copy(slots->getNumbers(), row.begin());
    auto [it, isNew] = places.try_emplace(row, words.size());
    if (isNew)
      words.insert(words.end(), row.begin(), row.end());
    return it->second;
  }

private:
  std::vector<int32_t> &words;
  int64_t pools;
  std::vector<int32_t> row; ///< that is added
  std::map<std::vector<int32_t>, int64_t> places;
};

int64_t mostPosted(const ProgramPlan &program, const PlanTimeline &timeline) {
  runtime::OpenTransfers open;
  for (const MtcStep &row : timeline.rows)
    open.follow(row, program.transfersOf(row));
  return open.most();
}

/// Reads the rows of timelines, and what they point to: into the tables of the
/// program.
class RowReader {
public:
  RowReader(ProgramPlan &program, int64_t pools)
      : program(program), slots(program.slots, pools) {}

  PlanTimeline read(rt::TimelineOp op) {
    PlanTimeline timeline;
    timeline.entry = op.getSymName().str();
    if (auto sequence = op.getSequence())
      timeline.seq = *sequence;
    if (auto microbatches = op.getMicrobatches())
      timeline.microbatches = *microbatches;
    rt::Rows rows = op.getRows();
    fragments.clear();
    for (mlir::StringAttr name : rows.getTable().names)
      fragments.push_back(program.fragmentIndex(name.getValue()));
    timeline.rows.reserve(rows.size());
    for (rt::Row row : rows.all())
      if (row.isStep())
        timeline.rows.push_back(readStep(row, timeline));
      else
        readExchange(row, timeline);
    markLast(timeline.rows);
    return timeline;
  }

private:
  /// Forms of a fragment are one.
  void markLast(std::vector<MtcStep> &rows) const {
    std::set<std::pair<int64_t, int64_t>> seen;
    for (MtcStep &row : llvm::reverse(rows))
      if (row.kind == MTC_STEP_RUN && row.fragment >= 0) {
        const PlanFragment &of = program.fragments[row.fragment];
        row.last = seen.insert({of.phase, of.chunk}).second;
      }
  }

  MtcStep readStep(const rt::Row &of, PlanTimeline &timeline) {
    MtcStep row{MTC_STEP_LOAD, -1, -1, 0, -1, 0, 0, 0};
    if (of.isRun()) {
      row.kind = MTC_STEP_RUN;
      mlir::StringAttr name = of.getFragment();
      if (name)
        row.fragment = static_cast<int32_t>(fragments[of.fragmentIndex()]);
      if (row.fragment < 0)
        timeline.unknown.push_back(name ? name.str() : "");
      else
        row.chunk = static_cast<int32_t>(program.fragments[row.fragment].chunk);
    }
    row.microbatch = static_cast<int32_t>(of.getMicrobatch().value_or(-1));
    if (row.microbatch >= 0)
      row.slots = static_cast<int32_t>(slots.add(of));
    return row;
  }

  void readExchange(const rt::Row &of, PlanTimeline &timeline) {
    if (of.waits())
      return readWait(of, timeline);
    auto first = static_cast<int32_t>(program.transfers.size());
    for (const rt::Transfer &t : of.getTransfers()) {
      if (of.posts())
        posted[&t] = static_cast<int32_t>(program.transfers.size());
      program.transfers.push_back({t.send, static_cast<int32_t>(t.peer),
                                   MTC_ARENA_ACTIVATIONS, t.tag.encoded(),
                                   t.offset, t.bytes});
    }
    timeline.rows.push_back(
        {of.posts() ? MTC_STEP_POST : MTC_STEP_EXCHANGE, -1, -1, 0, -1, first,
         static_cast<int32_t>(of.getTransfers().size()), 0});
  }

  /// A row for each run of transfers that one row posted side by side.
  void readWait(const rt::Row &of, PlanTimeline &timeline) {
    MtcStep row{MTC_STEP_WAIT, -1, -1, 0, -1, 0, 0, 0};
    for (const rt::Transfer &t : of.getTransfers()) {
      int32_t index = posted.lookup(&t);
      if (row.count > 0 && index != row.first + row.count) {
        timeline.rows.push_back(row);
        row.count = 0;
      }
      if (row.count++ == 0)
        row.first = index;
    }
    timeline.rows.push_back(row);
  }

  /// By what they are, not where.
  struct SameTransfer : llvm::DenseMapInfo<const rt::Transfer *> {
    using Base = llvm::DenseMapInfo<const rt::Transfer *>;
    static unsigned getHashValue(const rt::Transfer *transfer) {
      return static_cast<unsigned>(hash_value(*transfer));
    }
    static bool isEqual(const rt::Transfer *a, const rt::Transfer *b) {
      auto isNone = [](const rt::Transfer *each) {
        return each == Base::getEmptyKey() || each == Base::getTombstoneKey();
      };
      return a == b || (!isNone(a) && !isNone(b) && *a == *b);
    }
  };
  /// Index of a transfer that was posted; looked up only.
  llvm::DenseMap<const rt::Transfer *, int32_t, SameTransfer> posted;
  std::vector<int64_t> fragments; ///< of the names in the timeline
  ProgramPlan &program;
  SlotTable slots;
};

/// The rows of the update fragments: those without a microbatch.
runtime::EntryInfo readEntry(const PlanTimeline &timeline,
                             llvm::ArrayRef<MtcTransfer> transfers) {
  runtime::EntryInfo e;
  e.name = timeline.entry;
  e.seq = timeline.seq;
  e.microbatches = timeline.microbatches;
  e.length = static_cast<int64_t>(timeline.rows.size());
  for (int64_t i = 0; i < e.length; ++i)
    if (timeline.rows[i].kind == MTC_STEP_RUN &&
        timeline.rows[i].microbatch < 0)
      e.update.push_back(i);
  e.period = findPeriod(timeline.rows, transfers);
  return e;
}

std::vector<BucketInfo> readBuckets(rt::ProgramOp program) {
  std::vector<rt::BucketOp> all(program.getOps<rt::BucketOp>().begin(),
                                program.getOps<rt::BucketOp>().end());
  llvm::stable_sort(all, [](rt::BucketOp a, rt::BucketOp b) {
    return a.getIndex() < b.getIndex();
  });
  std::vector<BucketInfo> buckets;
  for (rt::BucketOp bucket : all)
    buckets.push_back(readBucket(bucket));
  return buckets;
}

/// A bucket that is a second use holds gradients only.
std::vector<ParamInfo> readParams(rt::ProgramOp program,
                                  const std::vector<BucketInfo> &buckets,
                                  const std::vector<std::string> &groups,
                                  const Parameters &model) {
  std::vector<ParamInfo> params;
  for (auto param : program.getOps<rt::ParamOp>()) {
    int64_t bucket = param.getBucket();
    auto of = model.find(param.getName().str());
    bool holds = bucket >= static_cast<int64_t>(buckets.size()) ||
                 !buckets[bucket].secondUseOf;
    if (holds && of != model.end()) // verify-plan has seen them all
      params.push_back(readParam(param, of->second, groups));
  }
  return params;
}

} // namespace

int64_t ProgramPlan::fragmentIndex(std::string_view fragment) const {
  for (size_t i = 0; i < fragments.size(); ++i)
    if (fragments[i].name == fragment)
      return static_cast<int64_t>(i);
  return -1;
}

/// Of kernels that run on several threads of a cpu, one at a time, in whole
/// pages, as arenas are. That of a GPU follows from its code (gpu_kernels.h).
static int64_t workspaceOfTeams(rt::ProgramOp op, const PlanConfig &config) {
  constexpr uint64_t kPageBytes = 4096;
  int64_t most = 0;
  if (config.device == "cpu")
    for (auto kernel : op.getOps<rt::KernelOp>())
      most = std::max(most, codegen::teamWorkspace(kernel, config.threads));
  return static_cast<int64_t>(
      llvm::alignTo(static_cast<uint64_t>(most), kPageBytes));
}

ProgramPlan readProgram(rt::ProgramOp op, const PlanConfig &config,
                        const Parameters &model) {
  ProgramPlan p;
  p.name = op.getSymName().str();
  target::GemmRows gemms;
  for (auto fn : op.getOps<mlir::func::FuncOp>()) {
    p.fragments.push_back(readFragment(fn, config));
    gemms.add(fn);
  }
  runtime::Descriptor &d = p.descriptor;
  d.pools = poolCount(op);
  RowReader rows(p, d.pools);
  d.kernelWorkspace = workspaceOfTeams(op, config);
  for (auto timeline : op.getOps<rt::TimelineOp>())
    p.timelines.push_back(rows.read(timeline));
  d.slots = static_cast<int64_t>(p.slots.size());
  d.stage = op.getStage();
  d.onednn = op.getOnednn().value_or("").str();
  d.lossOffset = op.getLossOffset().value_or(0);
  if (auto arenas = op.getArenas())
    std::copy_n(arenas->begin(), std::min(arenas->size(), d.arenas.size()),
                d.arenas.begin());
  d.buckets = readBuckets(op);
  d.params = readParams(op, d.buckets, config.groups, model);
  for (auto input : op.getOps<rt::InputSlotOp>())
    d.inputs.push_back(readInput(input));
  d.gemms = gemms.rows();
  for (const PlanTimeline &timeline : p.timelines) {
    d.entries.push_back(readEntry(timeline, p.transfers));
    d.posted = std::max(d.posted, mostPosted(p, timeline));
  }
  for (auto slot : op.getOps<rt::ExportSlotOp>()) {
    ExportInfo made = readExport(slot, p);
    for (std::string &entry : entriesOf(p, made.fragment))
      d.exports.emplace_back(made).entry = std::move(entry);
  }
  d.transfers = static_cast<int64_t>(p.transfers.size());
  for (const PlanFragment &fragment : p.fragments)
    d.fragments.push_back(fragment.name);
  return p;
}

} // namespace mtc::compiler

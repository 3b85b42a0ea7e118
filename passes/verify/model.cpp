//===- model.cpp - a planned module, read for checking --------------------===//
#include "passes/verify/model.h"

#include "mlir/IR/Threading.h"
#include "llvm/Support/MathExtras.h"

#include <atomic>
#include <limits>

using namespace mlir;

namespace mtc::passes::verify {

InFlightDiagnostic Report::error(Operation *op) {
  ++count;
  // Not op->emitOpError(): its note prints the whole op, for a program all of
  // it.
  return emitError(op->getLoc()) << "'" << op->getName() << "' ";
}

void inParallel(MLIRContext *context, size_t count, Report &report,
                function_ref<void(size_t, Report &)> part) {
  std::vector<Report> found(count);
  parallelFor(context, 0, count, [&](size_t i) { part(i, found[i]); });
  for (const Report &each : found)
    report.addFailures(each.size());
}

void forEachStage(const Model &model, Report &report,
                  function_ref<void(const Stage &, Report &)> check) {
  inParallel(model.module.getContext(), model.stages.size(), report,
             [&](size_t i, Report &found) { check(model.stages[i], found); });
}

InFlightDiagnostic Report::error(const Site &site) {
  ++count;
  return emitError(site.getLoc()) << "'" << site.getName() << "' ";
}

Location Site::getLoc() const {
  return row ? row->timeline.placeOf(row->index) : op->getLoc();
}

StringRef Site::getName() const {
  return row ? row->getName() : op->getName().getStringRef();
}

int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (llvm::AddOverflow(a, b, sum))
    return a < 0 ? std::numeric_limits<int64_t>::min()
                 : std::numeric_limits<int64_t>::max();
  return sum;
}

int64_t saturatingMul(int64_t a, int64_t b) {
  int64_t result;
  if (llvm::MulOverflow(a, b, result))
    return (a < 0) != (b < 0) ? std::numeric_limits<int64_t>::min()
                              : std::numeric_limits<int64_t>::max();
  return result;
}

int64_t product(ArrayRef<int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims)
    n = saturatingMul(n, d);
  return n;
}

rt::BucketOp Stage::bucket(int64_t wanted) const {
  for (rt::BucketOp bucket : buckets)
    if (bucket.getIndex() == wanted)
      return bucket;
  return {};
}

const Fragment *Stage::update(Phase phase) const {
  for (const Fragment &fragment : fragments)
    if (fragment.phase() == phase)
      return &fragment;
  return nullptr;
}

const Fragment *Stage::plainOf(const Fragment &form) const {
  for (const Fragment &fragment : fragments)
    if (fragment.of == form.of.ofOthers())
      return &fragment;
  return nullptr;
}

std::vector<std::vector<const Fragment *>> Stage::alternatives() const {
  std::vector<std::vector<const Fragment *>> found;
  for (const Fragment &fragment : fragments) {
    auto others = llvm::find_if(found, [&](const auto &list) {
      return list.front()->of.plain() == fragment.of.plain();
    });
    if (others != found.end())
      others->push_back(&fragment);
    else if (!fragment.isUpdate())
      found.push_back({&fragment});
  }
  return found;
}

std::vector<const Fragment *> Stage::fragmentsOf(pipe::Form conditions) const {
  std::vector<const Fragment *> found;
  for (const auto &forms : alternatives()) {
    const Fragment *best = nullptr;
    for (const Fragment *form : forms)
      if (bitEnumContainsAll(conditions, form->of.getForm()) &&
          (!best || form->of.isOf(best->of.getForm())))
        best = form;
    found.push_back(best ? best : forms.front());
  }
  return found;
}

std::set<pipe::Form> Stage::forms() const {
  std::set<pipe::Form> found;
  for (const Fragment &fragment : fragments)
    found.insert(fragment.of.getForm());
  return found;
}

bool sumsAccumulators(const Stage &stage, const Touch &touch) {
  return isa<rt::CollectiveOp>(touch.op) &&
         llvm::any_of(touch.accesses, [&](const Access &access) {
           return stage.isAccumulator(access);
         });
}

std::optional<Extent> Stage::valuesOf(const Param &param) const {
  rt::BucketOp of = bucket(param.bucket());
  if (!of || !of.getParamOffset()) // a second use has none
    return std::nullopt;
  int64_t wide = of.paramBytes();
  return Extent{
      MTC_ARENA_PARAMS,
      saturatingAdd(*of.getParamOffset(), saturatingMul(wide, param.start())),
      saturatingMul(wide, param.elements())};
}

bool Stage::addsToShard(const Access &access) const {
  if (!access.writes || !isAccumulator(access))
    return false;
  return llvm::any_of(buckets, [&](rt::BucketOp bucket) {
    int64_t begin = *bucket.getGradOffset(),
            bytes = saturatingMul(bucket.gradBytes(), bucket.gradElements());
    return shardsGradients(bucket.getIndex()) &&
           access.extent.offset >= begin &&
           access.extent.offset < saturatingAdd(begin, bytes);
  });
}

bool sumsStaged(const Model &model, const Touch &touch) {
  auto op = dyn_cast<rt::CollectiveOp>(touch.op);
  return op && model.shardsGradients && op.getGroup() == MTC_GROUP_DP &&
         !op->hasAttr("serves") && !gathersParameters(touch);
}

bool gathersParameters(const Touch &touch) {
  return isa<rt::CollectiveOp>(touch.op) &&
         llvm::any_of(touch.accesses, [](const Access &access) {
           return access.extent.arena == MTC_ARENA_PARAMS;
         });
}

static void readFragments(const Model &model, Stage &stage, Report &report) {
  for (auto fn : stage.op.getOps<func::FuncOp>()) {
    auto of = pipe::FragmentAttr::of(fn);
    if (!of || of.getStage() != stage.index)
      report.error(fn) << "expected a fragment of stage " << stage.index << " ("
                       << pipe::FragmentAttr::attrName
                       << "), found another function";
    else if (of.getChunk() < 0 || of.getChunk() >= model.chunks)
      report.error(fn) << "expected a chunk of 0 to " << model.chunks - 1
                       << ", of which mtc.config has " << model.chunks
                       << ", found chunk " << of.getChunk();
    else // one block without arguments, as the dialect verifies
      stage.fragments.push_back({fn, of, readTouches(stage.op, fn, report)});
  }
}

/// The fragments of the names that rows have; null: of another program.
static std::vector<const Fragment *>
fragmentsNamed(const Stage &stage, ArrayRef<StringAttr> names) {
  std::vector<const Fragment *> found(names.size());
  for (auto [index, name] : llvm::enumerate(names))
    for (const Fragment &fragment : stage.fragments)
      if (fragment.name() == name)
        found[index] = &fragment;
  return found;
}

static void readRows(Stage &stage, Timeline &timeline, Report &report) {
  rt::Rows rows = timeline.op.getRows();
  std::vector<const Fragment *> fragments =
      fragmentsNamed(stage, rows.getTable().names);
  timeline.rows.reserve(rows.size());
  for (auto [index, of] : llvm::enumerate(rows.all())) {
    Row &row = timeline.rows.emplace_back(
        Row{of, timeline.op, index, nullptr, of.getMicrobatch().value_or(-1)});
    StringAttr name = row.getFragment();
    if (name)
      row.fragment = fragments[row.fragmentIndex()];
    if (row.isRun() && !row.fragment)
      report.error(row) << "expected a fragment of this program, found \""
                        << (name ? name.getValue() : "") << "\"";
    if (std::optional<pipe::SlotList> slots = row.getSlots())
      for (auto [pool, slot] : llvm::enumerate(slots->getNumbers()))
        if (slot != pipe::SlotList::kNone) {
          int64_t &most = stage.slots[static_cast<MtcPool>(pool)];
          most = std::max<int64_t>(most, slot + 1);
        }
  }
}

static void readTimelines(Stage &stage, Report &report) {
  for (auto op : stage.op.getOps<rt::TimelineOp>()) {
    auto [it, isNew] = stage.timelines.try_emplace(op.getSymName().str());
    if (!isNew) {
      report.error(op)
          << "expected one timeline per entry, found a second of \""
          << op.getSymName() << "\"";
      continue;
    }
    it->second.op = op;
    readRows(stage, it->second, report);
  }
}

/// What later phases left open of a bucket; checks need all of it.
static bool hasOffsets(rt::BucketOp bucket, Report &report) {
  bool all = bucket.getGradOffset() &&
             (bucket.isSecondUse() ||
              (bucket.getParamOffset() && bucket.getStateOffsets()));
  if (!all)
    report.error(bucket) << "expected the offsets of its parameters, gradients "
                            "and states (written by plan-memory), found some "
                            "missing";
  return all;
}

static bool readArenas(Stage &stage, Report &report) {
  auto arenas = stage.op.getArenas();
  if (!arenas || arenas->size() != MTC_ARENA_COUNT || !stage.op.getLossOffset())
    report.error(stage.op) << "expected arenas with " << int(MTC_ARENA_COUNT)
                           << " sizes, and loss_offset (written by "
                              "plan-memory)";
  else {
    llvm::copy(*arenas, stage.arenas.begin());
    stage.lossOffset = *stage.op.getLossOffset();
    return true;
  }
  return false;
}

static void readShards(const Model &model, Stage &stage) {
  for (rt::BucketOp bucket : stage.buckets) {
    int64_t index = bucket.getIndex();
    bool isSummed = llvm::all_of(stage.params, [&](const Param &param) {
      return param.bucket() != index ||
             llvm::is_contained(param.op.partialGroups(), MTC_GROUP_DP);
    });
    if (model.zero && isSummed)
      stage.sharded.insert(index);
    if (model.shardsGradients && isSummed)
      stage.gradientsSharded.insert(index);
  }
}

/// False, with a report, if checks could not go on.
static bool readStage(const Model &model, Stage &stage, rt::ProgramOp program,
                      Report &report) {
  stage.op = program;
  stage.index = program.getStage();
  bool good = readArenas(stage, report);
  for (auto bucket : program.getOps<rt::BucketOp>()) {
    stage.buckets.push_back(bucket);
    good &= hasOffsets(bucket, report);
  }
  for (auto packed : program.getOps<rt::PackedOp>()) {
    stage.packed.push_back(packed);
    if (!packed.getOffset()) {
      report.error(packed) << "expected an offset (written by plan-memory), "
                              "found none";
      good = false;
    }
  }
  for (auto param : program.getOps<rt::ParamOp>()) {
    auto of = model.parameters.find(param.getName().str());
    if (of != model.parameters.end())
      stage.params.push_back({param, of->second});
    else
      report.error(param) << "expected a parameter of the model "
                             "(pipe.parameter), found \""
                          << param.getName() << "\"";
  }
  readShards(model, stage);
  readFragments(model, stage, report);
  return good;
}

static void readParameters(Model &model, Report &report) {
  for (auto param : model.module.getOps<pipe::ParameterOp>()) {
    if (StringAttr axis = param.split().axis)
      if (std::optional<MtcAxis> known = splittingAxis(axis.getValue()))
        model.splitting.insert(*known);
    if (!model.parameters.try_emplace(param.getName().str(), param).second)
      report.error(param)
          << "expected each parameter of the model once, found \""
          << param.getName() << "\" again";
  }
}

static void readCrossings(Model &model, Report &report) {
  for (auto op : model.module.getOps<pipe::CrossingOp>()) {
    std::string entry = op.getEntry().str();
    CrossingName name = op.getName();
    bool isNew =
        model.arriving.try_emplace({entry, name, op.getTo()}, op).second;
    isNew &= model.leaving.try_emplace({entry, name, op.getFrom()}, op).second;
    if (!isNew)
      report.error(op) << "expected a virtual stage to send and to receive one "
                          "value of a name in \""
                       << entry << "\", found a second " << name.text();
    int64_t last = model.mesh.stages() * model.chunks - 1;
    if (std::max(op.getFrom(), op.getTo()) > uint64_t(last))
      report.error(op) << "expected virtual stages of 0 to " << last
                       << ", found " << std::max(op.getFrom(), op.getTo());
  }
}

/// Shards are cut by dist.mesh, ranks are counted by mtc.config.
static bool checkMesh(const Model &model, Report &report) {
  dist::MeshAttr mesh = dist::meshOf(model.module);
  for (const AxisInfo &axis : kAxes) {
    int64_t found = mesh ? mesh.sizeOf(axis.name) : 1;
    if (!axis.splits || found == model.mesh[axis.id])
      continue;
    report.error(model.module)
        << "expected " << model.mesh[axis.id] << " ranks along " << axis.name
        << " in " << dist::meshAttrName << ", as in mtc.config, found "
        << found;
    return false;
  }
  return true;
}

static void readStages(Model &model, ArrayRef<rt::ProgramOp> programs,
                       Report &report) {
  model.stages.resize(programs.size());
  std::atomic<bool> good = true;
  inParallel(model.module.getContext(), programs.size(), report,
             [&](size_t i, Report &found) {
               if (!readStage(model, model.stages[i], programs[i], found))
                 good = false;
             });
  if (!good)
    model.stages.clear();
  // Rows point to fragments, so these must not move any more.
  inParallel(
      model.module.getContext(), model.stages.size(), report,
      [&](size_t i, Report &found) { readTimelines(model.stages[i], found); });
}

Model readModel(ModuleOp module, Report &report) {
  Model model;
  model.module = module;
  FailureOr<ConfigAttr> config = configOf(module);
  if (failed(config)) {
    report.addFailure();
    return model;
  }
  model.config = *config;
  model.mesh = config->getMesh();
  if (!checkMesh(model, report))
    return model;
  BatchAttr batch = config->getBatch();
  model.layers = config->getModel().getLayers();
  model.chunks = config->getSchedule().getChunks();
  model.microbatches = batch.getMicrobatches();
  model.inputBytes = product(
      {4, batch.getMicro(), batch.getSequence() / model.mesh[MTC_AXIS_CP]});
  model.zero = config->shardsOptimizer();
  model.shardsGradients = config->shardsGradients();

  std::map<int64_t, rt::ProgramOp> programs;
  bool complete = true;
  for (auto program : module.getOps<rt::ProgramOp>()) {
    int64_t stage = program.getStage();
    bool fits = stage >= 0 && stage < model.mesh.stages() &&
                programs.try_emplace(stage, program).second;
    if (!fits)
      report.error(program)
          << "expected each stage of 0 to " << model.mesh.stages() - 1
          << " once, found stage " << stage;
    complete &= fits;
  }
  for (int64_t s = 0; s < model.mesh.stages(); ++s)
    if (!programs.count(s)) {
      report.error(module) << "expected a program of stage " << s
                           << ", found none";
      complete = false;
    }
  if (!complete)
    return model;
  readParameters(model, report);
  readCrossings(model, report);
  readStages(model, llvm::to_vector(llvm::make_second_range(programs)), report);
  return model;
}

} // namespace mtc::passes::verify

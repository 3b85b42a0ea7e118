//===- Mtc.cpp - registration and verifiers of the mtc dialect ------------===//
#include "dialects/mtc/Mtc.h"

#include "mtc/runtime/memory.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;

using EmitError = function_ref<InFlightDiagnostic()>;

#include "dialects/mtc/MtcDialect.cpp.inc"
#include "dialects/mtc/MtcEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/mtc/MtcAttrs.cpp.inc"

void MtcDialect::initialize() { registerAttributes(); }

void MtcDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/mtc/MtcAttrs.cpp.inc"
      >();
}

//===--- mesh -------------------------------------------------------------===//

llvm::hash_code mtc::hash_value(const Mesh &mesh) {
  llvm::hash_code hash(0);
  for (const AxisInfo &axis : kAxes)
    hash = llvm::hash_combine(hash, mesh[axis.id]);
  for (MtcAxis axis : mesh.order())
    hash = llvm::hash_combine(hash, static_cast<int>(axis));
  return llvm::hash_combine(hash, mesh.kvRanks());
}

//===--- what the fields may be -------------------------------------------===//

/// More layers than any model has, and few enough to list them.
static constexpr int64_t kMostLayers = 1 << 20;
/// As descriptors have it.
static constexpr int64_t kMostThreads = 1 << 16;

static LogicalResult atLeastOne(EmitError emitError, StringRef field,
                                int64_t found) {
  return found >= 1 ? success()
                    : emitError() << "expected " << field
                                  << " to be at least 1, found " << found;
}

static LogicalResult between(EmitError emitError, StringRef field,
                             int64_t found, int64_t most) {
  return found >= 1 && found <= most ? success()
                                     : emitError() << "expected " << field
                                                   << " to be 1 to " << most
                                                   << ", found " << found;
}

static LogicalResult notEmpty(EmitError emitError, StringRef field,
                              StringRef found) {
  return found.empty() ? emitError() << "expected " << field
                                     << " to say something, found \"\""
                       : LogicalResult(success());
}

LogicalResult ModelAttr::verify(EmitError emitError, StringRef name,
                                int64_t layers, int64_t hidden, int64_t vocab,
                                int64_t paddedVocab) {
  if (failed(notEmpty(emitError, "name", name)) ||
      failed(atLeastOne(emitError, "hidden", hidden)) ||
      failed(atLeastOne(emitError, "vocab", vocab)))
    return failure();
  if (layers < 0 || layers > kMostLayers)
    return emitError() << "expected 0 to " << kMostLayers << " layers, found "
                       << layers;
  if (paddedVocab < vocab)
    return emitError() << "expected padded_vocab to be at least vocab, "
                       << vocab << ", found " << paddedVocab;
  return success();
}

LogicalResult BatchAttr::verify(EmitError emitError, int64_t micro,
                                int64_t microbatches, int64_t global,
                                int64_t sequence) {
  return failure(failed(atLeastOne(emitError, "micro", micro)) ||
                 failed(between(emitError, "microbatches", microbatches,
                                Tag::kMicrobatches)) ||
                 failed(atLeastOne(emitError, "global", global)) ||
                 failed(atLeastOne(emitError, "sequence", sequence)));
}

LogicalResult ScheduleAttr::verify(EmitError emitError, StringRef name,
                                   int64_t chunks, DenseI64ArrayAttr,
                                   std::optional<int64_t> group,
                                   ArrayAttr slots) {
  bool areLines = !slots || llvm::all_of(slots, [](Attribute line) {
    return isa<StringAttr>(line);
  });
  if (!areLines)
    return emitError() << "expected slots to be a list of strings, found "
                       << slots;
  return failure(failed(notEmpty(emitError, "name", name)) ||
                 failed(between(emitError, "chunks", chunks, Tag::kStages)) ||
                 (group && failed(between(emitError, "group", *group,
                                          Tag::kMicrobatches))));
}

LogicalResult OptimizerAttr::verify(EmitError emitError, OptimizerKind,
                                    int64_t zero, int64_t bucketSize,
                                    std::optional<FlatLayout>,
                                    std::optional<Precision>,
                                    ArrayAttr groups) {
  if (zero < 0 || zero > 2)
    return emitError() << "expected zero to be 0, 1 or 2, found " << zero;
  llvm::SmallSetVector<Attribute, 4> names;
  if (groups)
    names.insert(groups.begin(), groups.end());
  if (groups && (names.size() != groups.size() ||
                 !llvm::all_of(groups, llvm::IsaPred<StringAttr>)))
    return emitError() << "expected groups to be names, each once, found "
                       << groups;
  if (names.size() >= MTC_PARAM_GROUPS)
    return emitError() << "expected at most " << MTC_PARAM_GROUPS - 1
                       << " groups, found " << names.size();
  return atLeastOne(emitError, "bucket_size", bucketSize);
}

std::optional<int64_t> OptimizerAttr::groupIndex(StringAttr group) const {
  if (!group)
    return 0;
  ArrayAttr all = getGroups();
  const Attribute *found = all ? llvm::find(all, group) : nullptr;
  if (!all || found == all.end())
    return std::nullopt;
  return found - all.begin() + 1;
}

/// Whether a list has names of an enum, each once, and at least one.
template <typename Symbolize>
static bool areNames(ArrayAttr list, Symbolize symbolize) {
  llvm::StringSet<> seen;
  return !list.empty() && llvm::all_of(list, [&](Attribute each) {
    auto name = dyn_cast<StringAttr>(each);
    return name && symbolize(name.getValue()) &&
           seen.insert(name.getValue()).second;
  });
}

LogicalResult TargetAttr::verify(
    EmitError emitError, StringRef device, StringAttr isa, int64_t threads,
    std::optional<int64_t> streams, std::optional<int64_t> memory,
    std::optional<int64_t> ranksPerHost, ArrayAttr epilogues,
    std::optional<GemmChoice> gemm, std::optional<Prepack> prepack) {
  if (streams && device != "cpu")
    return emitError() << "expected streams of the device cpu alone, as a GPU "
                          "has two, found them of "
                       << device;
  if (gemm && device != "cpu")
    return emitError() << "expected gemm of the device cpu alone, as products "
                          "of a GPU are its library's, found it of "
                       << device;
  if (prepack && !gemm)
    return emitError() << "expected prepack beside gemm = own, whose kernels "
                          "read what is packed, found it alone";
  if (epilogues && !areNames(epilogues, [&](StringRef name) {
        auto kind = symbolizeEpilogue(name);
        return kind && (kind == Epilogue::Pointwise) == (device == "cpu");
      }))
    return emitError() << "expected names of what is done within products of "
                       << (device == "cpu" ? "a cpu (pointwise)"
                                           : "a GPU (bias, gelu)")
                       << ", each once, found " << epilogues;
  if (streams &&
      failed(between(emitError, "streams", *streams, MTC_STREAM_COUNT)))
    return failure();
  return failure(failed(notEmpty(emitError, "device", device)) ||
                 (isa && failed(notEmpty(emitError, "isa", isa))) ||
                 failed(between(emitError, "threads", threads, kMostThreads)) ||
                 (memory && failed(atLeastOne(emitError, "memory", *memory))) ||
                 (ranksPerHost && failed(atLeastOne(emitError, "ranks_per_host",
                                                    *ranksPerHost))));
}

LogicalResult RecomputeAttr::verify(EmitError emitError, RecomputePolicy policy,
                                    std::optional<int64_t> layers,
                                    ArrayAttr families,
                                    std::optional<int64_t> microbatches) {
  if (microbatches.has_value() != (policy == RecomputePolicy::Microbatches))
    return emitError() << "expected microbatches with the policy microbatches "
                          "alone, found "
                       << stringifyEnum(policy)
                       << (microbatches ? " with" : " without");
  if (microbatches && failed(between(emitError, "microbatches", *microbatches,
                                     Tag::kMicrobatches)))
    return failure();
  if (layers.has_value() != (policy == RecomputePolicy::Layers))
    return emitError() << "expected layers with the policy layers alone, found "
                       << stringifyEnum(policy)
                       << (layers ? " with" : " without");
  if (static_cast<bool>(families) != (policy == RecomputePolicy::Ops))
    return emitError() << "expected families with the policy ops alone, found "
                       << stringifyEnum(policy)
                       << (families ? " with" : " without");
  if (layers && failed(between(emitError, "layers", *layers, kMostLayers)))
    return failure();
  if (!families)
    return success();
  if (areNames(families,
               [](StringRef name) { return symbolizeOpFamily(name); }))
    return success();
  return emitError() << "expected names of op families, each once, found "
                     << families;
}

bool RecomputeAttr::names(OpFamily family) const {
  return getFamilies() &&
         llvm::is_contained(
             getFamilies(),
             StringAttr::get(getContext(), stringifyOpFamily(family)));
}

/// How many ranks have samples of their own: not parts of the same ones.
static int64_t replicasOf(const Mesh &mesh) {
  int64_t replicas = 1;
  for (const AxisInfo &axis : kAxes)
    replicas *= axis.data && !axis.headAndTail ? mesh[axis.id] : 1;
  return replicas;
}

LogicalResult ConfigAttr::verify(EmitError emitError, ModelAttr, Mesh mesh,
                                 BatchAttr batch, Precision precision,
                                 ScheduleAttr, OptimizerAttr optimizer,
                                 TargetAttr, RecomputeAttr, ArrayAttr overlap) {
  Precision sums = optimizer.getGradDtype().value_or(Precision::F32);
  if (sums != Precision::F32 && sums != precision)
    return emitError() << "expected gradients that are summed in "
                       << stringifyPrecision(sums)
                       << " (grad_dtype of the optimizer) of the precision "
                       << stringifyPrecision(sums) << ", found "
                       << stringifyPrecision(precision);
  if (overlap &&
      !areNames(overlap, [](StringRef name) { return symbolizeOverlap(name); }))
    return emitError() << "expected names of what runs beside computations, "
                          "each once, found "
                       << overlap;
  if (mesh[MTC_AXIS_TP] % mesh.kvRanks() != 0)
    return emitError() << "expected kv of the mesh, the ranks with the same "
                          "key heads, to divide tp = "
                       << mesh[MTC_AXIS_TP] << ", found " << mesh.kvRanks();
  int64_t replicas = replicasOf(mesh), expected;
  if (llvm::MulOverflow(batch.getMicro(), batch.getMicrobatches(), expected) ||
      llvm::MulOverflow(expected, replicas, expected) ||
      expected != batch.getGlobal())
    return emitError() << "expected a global batch of " << batch.getMicro()
                       << " samples times " << batch.getMicrobatches()
                       << " microbatches times " << replicas
                       << " replicas, found " << batch.getGlobal();
  return success();
}

//===--- the attribute of the module --------------------------------------===//

LogicalResult MtcDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() != configAttrName)
    return success();
  if (!isa<ModuleOp>(op))
    return op->emitOpError("expected no ")
           << configAttrName << ", which is of the module, found one";
  return configOf(cast<ModuleOp>(op));
}

FailureOr<ConfigAttr> mtc::configOf(ModuleOp module) {
  Attribute found = module->getAttr(configAttrName);
  if (!found)
    return emitError(module.getLoc(), "expected the module attribute ")
           << configAttrName << ", found none; start from IR that `mtc compile "
           << "--save-ir` wrote";
  if (auto config = dyn_cast<ConfigAttr>(found))
    return config;
  return emitError(module.getLoc(), "expected ")
         << configAttrName << " to be #mtc.config<model = <...>, ...>, found "
         << found;
}

bool ConfigAttr::shardsOptimizer() const {
  return getOptimizer().getZero() >= 1 && getMesh()[MTC_AXIS_DP] > 1;
}

bool ConfigAttr::shardsGradients() const {
  return getOptimizer().getZero() >= 2 && getMesh()[MTC_AXIS_DP] > 1;
}

bool TargetAttr::hasEpilogue(Epilogue kind) const {
  return getEpilogues() &&
         llvm::is_contained(
             getEpilogues(),
             StringAttr::get(getContext(), stringifyEpilogue(kind)));
}

bool ConfigAttr::overlaps(Overlap kind) const {
  return getOverlap() &&
         llvm::is_contained(
             getOverlap(),
             StringAttr::get(getContext(), stringifyOverlap(kind)));
}

bool ConfigAttr::reducesInBackward() const {
  return shardsGradients() || overlaps(Overlap::GradReduce);
}

DtypePolicy ConfigAttr::types() const {
  return dtypePolicy(getContext(), getPrecision(),
                     getOptimizer().getGradDtype().value_or(Precision::F32));
}

ConfigAttr ConfigAttr::withIsa(StringRef isa) const {
  TargetAttr old = getTarget();
  auto target =
      TargetAttr::get(getContext(), old.getDevice(),
                      StringAttr::get(getContext(), isa), old.getThreads(),
                      old.getStreams(), old.getMemory(), old.getRanksPerHost(),
                      old.getEpilogues(), old.getGemm(), old.getPrepack());
  return get(getContext(), getModel(), getMesh(), getBatch(), getPrecision(),
             getSchedule(), getOptimizer(), target, getRecompute(),
             getOverlap());
}

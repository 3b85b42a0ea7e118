//===- verify_join.cpp - a joined program does what its plans do ----------===//
#include "compiler/verify_join.h"

#include "compiler/join_plans.h"
#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "mtc/runtime/descriptor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace mtc::compiler {
namespace {

uintptr_t wordOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

/// All that attributes say, but for names that a join may change.
void append(std::vector<uintptr_t> &key, DictionaryAttr attributes,
            ArrayRef<StringRef> without = {}) {
  for (NamedAttribute attribute : attributes)
    if (!llvm::is_contained(without, attribute.getName().strref())) {
      key.push_back(wordOf(attribute.getName().getAsOpaquePointer()));
      key.push_back(wordOf(attribute.getValue().getAsOpaquePointer()));
    }
}

/// Arenas that one step uses, so that the largest step decides.
bool isOfStep(size_t arena) {
  return arena == MTC_ARENA_ACTIVATIONS || arena == MTC_ARENA_WORKSPACE ||
         arena == MTC_ARENA_PACKED;
}

struct Shape {
  runtime::StepShape step;
  int64_t microbatches = 0;
};

FailureOr<Shape> shapeOf(ModuleOp plan) {
  FailureOr<ConfigAttr> config = configOf(plan);
  if (failed(config))
    return failure();
  BatchAttr batch = config->getBatch();
  return Shape{{batch.getSequence(), batch.getGlobal()},
               batch.getMicrobatches()};
}

} // namespace

/// One program, for which `nameOf` gives the joined names of its entries.
class JoinProof::Reading {
public:
  /// `shape` is of entries that say no other.
  Reading(JoinProof &proof, rt::ProgramOp program, const Shape &shape)
      : proof(proof), program(program), shape(shape) {}

  Stage read(function_ref<std::string(StringRef)> nameOf) {
    for (auto kernel : program.getOps<rt::KernelOp>())
      kernels[kernel.getSymName()] =
          bodyOf(kernel, {kernel.getSymNameAttrName()});
    for (auto slot : program.getOps<rt::ExportSlotOp>())
      exported[slot.getFragment()].push_back(
          numberOf(slot, {slot.getFragmentAttrName()}));
    for (auto fn : program.getOps<func::FuncOp>())
      fragments[fn.getSymName()] = fragmentOf(fn);
    Stage stage;
    if (auto arenas = program.getArenas())
      stage.arenas.assign(arenas->begin(), arenas->end());
    stage.lasting = lasting();
    stage.library = program.getOnednn().value_or("").str();
    for (auto timeline : program.getOps<rt::TimelineOp>())
      stage.entries[nameOf(timeline.getSymName())] = entryOf(timeline);
    return stage;
  }

private:
  uintptr_t numberOf(Operation *op, ArrayRef<StringRef> without) {
    Key key{wordOf(op->getName().getAsOpaquePointer())};
    append(key, op->getAttrDictionary(), without);
    return proof.number(key);
  }

  /// The ops of a body, and which op reads which value.
  uintptr_t bodyOf(Operation *body, ArrayRef<StringRef> without) {
    Key ops{numberOf(body, without)};
    llvm::DenseMap<Value, uintptr_t> values; // looked up only
    body->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == body)
        return;
      Key key{wordOf(op->getName().getAsOpaquePointer())};
      auto launch = dyn_cast<rt::LaunchOp>(op);
      if (launch)
        append(key, op->getAttrDictionary(), {launch.getKernelAttrName()});
      else
        append(key, op->getAttrDictionary());
      key.push_back(launch ? kernels.lookup(launch.getKernel()) : 0);
      for (Value operand : op->getOperands())
        key.push_back(values.lookup(operand));
      for (Value result : op->getResults()) {
        values[result] = values.size() + 1;
        key.push_back(wordOf(result.getType().getAsOpaquePointer()));
      }
      ops.push_back(proof.number(key));
    });
    return proof.number(ops);
  }

  uintptr_t fragmentOf(func::FuncOp fn) {
    Key key{bodyOf(fn, {fn.getSymNameAttrName()})};
    std::vector<uintptr_t> &slots = exported[fn.getSymName()];
    llvm::sort(slots);
    llvm::append_range(key, slots);
    return proof.number(key);
  }

  uintptr_t lasting() {
    Key key{wordOf(program.getLossOffsetAttr().getAsOpaquePointer())};
    for (Operation &op : program.getBody().front())
      if (isa<rt::BucketOp, rt::ParamOp>(op))
        key.push_back(numberOf(&op, {}));
    for (auto param :
         program->getParentOfType<ModuleOp>().getOps<pipe::ParameterOp>())
      key.push_back(numberOf(param, {}));
    return proof.number(key);
  }

  Entry entryOf(rt::TimelineOp timeline) {
    Entry entry;
    MLIRContext *context = timeline.getContext();
    entry.rows = timeline.getRows().renamed([&](StringAttr name) {
      return StringAttr::get(context, Twine(fragments.lookup(name.getValue())));
    });
    entry.sequence = timeline.getSequence().value_or(shape.step.seq);
    entry.microbatches =
        timeline.getMicrobatches().value_or(shape.microbatches);
    Key inputs;
    for (auto slot : program.getOps<rt::InputSlotOp>())
      if (slot.getEntry() == timeline.getSymName())
        inputs.push_back(numberOf(slot, {slot.getEntryAttrName()}));
    llvm::sort(inputs);
    entry.inputs = proof.number(inputs);
    return entry;
  }

  JoinProof &proof;
  rt::ProgramOp program;
  Shape shape;
  llvm::DenseMap<StringRef, uintptr_t> kernels, fragments; // looked up only
  std::map<StringRef, std::vector<uintptr_t>> exported;
};

JoinProof::JoinProof(ModuleOp module) {
  std::vector<ModuleOp> all = plansOf(module);
  if (all.front() == module)
    return;
  FailureOr<Shape> largest = shapeOf(all.front());
  for (ModuleOp plan : all) {
    FailureOr<Shape> shape = shapeOf(plan);
    if (failed(shape) || failed(largest))
      return; // joinPlans says so
    plans.emplace_back();
    for (auto program : plan.getOps<rt::ProgramOp>())
      plans.back()[program.getStage()] =
          Reading(*this, program, *shape).read([&](StringRef name) {
            return runtime::entryName(name.str(), shape->step, largest->step);
          });
  }
}

LogicalResult JoinProof::compare(Operation *program, const Stage &expected,
                                 const Stage &found) {
  bool same = true;
  auto differs = [&](const Twine &what) {
    same = false;
    program->emitError("expected the joined program to have ")
        << what << " of each of its plans, found others";
  };
  if (expected.lasting != found.lasting)
    differs("the parameters and buckets");
  if (!expected.library.empty() && expected.library != found.library)
    differs("the library of products");
  bool fits = expected.arenas.size() == found.arenas.size();
  for (size_t i = 0; fits && i < found.arenas.size(); ++i)
    fits = isOfStep(i) ? found.arenas[i] >= expected.arenas[i]
                       : found.arenas[i] == expected.arenas[i];
  if (!fits)
    differs("arenas of the size");
  for (const auto &[name, entry] : expected.entries) {
    auto it = found.entries.find(name);
    if (it == found.entries.end())
      differs("the entry \"" + name + "\"");
    else if (it->second.sequence != entry.sequence ||
             it->second.microbatches != entry.microbatches)
      differs("the samples of the entry \"" + name + "\"");
    else if (it->second.inputs != entry.inputs)
      differs("the inputs of the entry \"" + name + "\"");
    else if (!(it->second.rows.getTable() == entry.rows.getTable()))
      differs("the rows and fragments of the entry \"" + name + "\"");
  }
  return success(same);
}

/// Steps of entries follow each other in any order, so each has to leave the
/// norm as all others find it.
static LogicalResult checkNorms(rt::ProgramOp program) {
  func::FuncOp first;
  for (auto fn : program.getOps<func::FuncOp>()) {
    auto of = pipe::FragmentAttr::of(fn);
    if (!of || of.getPhase() != pipe::Phase::Reduce)
      continue;
    if (!first)
      first = fn;
    if (rt::leavesNormReset(fn) != rt::leavesNormReset(first))
      return fn.emitError("expected the norm to be reset where \"")
             << first.getSymName() << "\" does, "
             << (rt::leavesNormReset(first) ? "at the end" : "at the begin")
             << ", found the other place";
  }
  return success();
}

LogicalResult JoinProof::check(ModuleOp joined) {
  if (plans.empty())
    return success();
  FailureOr<Shape> largest = shapeOf(joined);
  if (failed(largest))
    return failure();
  bool same = true;
  for (auto program : joined.getOps<rt::ProgramOp>()) {
    Stage found = Reading(*this, program, *largest).read([](StringRef name) {
      return name.str();
    });
    same &= succeeded(checkNorms(program));
    size_t entries = 0;
    bool isAsked = found.library.empty();
    for (const auto &plan : plans) {
      auto expected = plan.find(program.getStage());
      if (expected == plan.end())
        continue;
      entries += expected->second.entries.size();
      isAsked |= !expected->second.library.empty();
      same &= succeeded(compare(program, expected->second, found));
    }
    if (!isAsked) {
      program.emitError("expected no library of products, as in all plans, "
                        "found oneDNN ")
          << found.library;
      same = false;
    }
    if (found.entries.size() != entries) {
      program.emitError("expected ")
          << entries << " entries of the joined program, found "
          << found.entries.size();
      same = false;
    }
  }
  return success(same);
}

runtime::Status joinVerified(ModuleOp module, bool verify, DiagnosticLog &log) {
  std::optional<JoinProof> proof;
  if (verify)
    proof.emplace(module);
  if (failed(joinPlans(module)) || (proof && failed(proof->check(module))))
    return {runtime::StatusCode::internal, log.take()};
  return runtime::Status::okay();
}

} // namespace mtc::compiler

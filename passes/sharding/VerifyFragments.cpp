//===- VerifyFragments.cpp - --verify-fragments ---------------------------===//
//
// verify-partitioned again, where @microbatch has become fragments: op by op
// inside of them, and every value that leaves one against those that it becomes
// in others.
//
//===----------------------------------------------------------------------===//
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/sharding/state_checker.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>
#include <set>

namespace mtc::passes {
#define GEN_PASS_DEF_VERIFYFRAGMENTS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::sharding;

namespace {

/// A value that fragments share, in words: "input \"ids\"".
using SharedName = std::string;

class FragmentsVerifier {
public:
  explicit FragmentsVerifier(dist::MeshAttr mesh) : checker(mesh) {}

  LogicalResult run(ModuleOp module) {
    SmallVector<func::FuncOp> fragments;
    module.walk([&](func::FuncOp fn) {
      if (auto fragment = pipe::FragmentAttr::of(fn);
          fragment && !fragment.isUpdate())
        fragments.push_back(fn);
    });
    module.walk([&](pipe::ParameterOp parameter) {
      parameters.try_emplace(parameter.getName().str(), parameter);
    });
    module.walk([&](rt::ParamOp row) {
      rows.try_emplace({row.getName().str(), row.getUse()}, row);
    });
    llvm::append_range(crossings, module.getOps<pipe::CrossingOp>());
    for (func::FuncOp fn : fragments)
      stages = std::max(stages, pipe::FragmentAttr::of(fn).getStage() + 1);
    for (func::FuncOp fn : fragments)
      for (Operation *op : opsOf(fn))
        if (failed(enter(pipe::FragmentAttr::of(fn), op)))
          return failure();
    LogicalResult ok = success();
    for (func::FuncOp fn : fragments)
      for (Operation *op : opsOf(fn))
        if (failed(check(pipe::FragmentAttr::of(fn), op)))
          ok = failure();
    for (auto &[name, parameter] : parameters)
      if (failed(checkUses(parameter)))
        ok = failure();
    return ok;
  }

private:
  /// The ops of a fragment in order, those of its clusters among them.
  static SmallVector<Operation *> opsOf(func::FuncOp fn) {
    SmallVector<Operation *> ops;
    fn.walk([&](Operation *op) {
      if (!op->getNumRegions() && !op->hasTrait<OpTrait::IsTerminator>())
        ops.push_back(op);
    });
    return ops;
  }

  //===--- what fragments share ---------------------------------------===//

  /// What a value is called where other fragments have it, too; nothing for one
  /// that stays in its fragment.
  std::optional<SharedName> sharedName(pipe::FragmentAttr at, Operation *op) {
    using Name = std::optional<SharedName>;
    auto quoted = [](StringRef name) { return "\"" + name.str() + "\""; };
    return TypeSwitch<Operation *, Name>(op)
        .Case([&](pipe::InputOp in) -> Name {
          return "input " + quoted(in.getName());
        })
        .Case(
            [&](pipe::SaveOp keep) -> Name { return kept(at, keep.getKey()); })
        .Case([&](pipe::SavedOp k) -> Name { return kept(at, k.getKey()); })
        .Case([&](pipe::SendOp send) -> Name {
          return crossing(at, send.getName(), /*sends=*/true);
        })
        .Case([&](pipe::ReceivedOp in) -> Name {
          return crossing(at, in.getName(), /*sends=*/false);
        })
        .Default([](Operation *) -> Name { return std::nullopt; });
  }
  static SharedName kept(pipe::FragmentAttr at, int64_t key) {
    return "saved activation " + std::to_string(key) + " of stage " +
           std::to_string(at.getStage());
  }
  /// By what pipe.crossing says of it; none if it says nothing.
  std::optional<SharedName> crossing(pipe::FragmentAttr at, CrossingName name,
                                     bool sends) {
    int64_t here = at.virtualStage(stages);
    for (pipe::CrossingOp row : crossings)
      if (row.getName() == name && row.getEntry() == at.getEntry() &&
          int64_t(sends ? row.getFrom() : row.getTo()) == here)
        return name.text() + " of \"" + at.getEntry().str() +
               "\" from virtual stage " + std::to_string(row.getFrom()) +
               " to " + std::to_string(row.getTo());
    return std::nullopt;
  }

  static Value sharedValue(Operation *op) {
    return op->getNumResults() ? op->getResult(0) : op->getOperand(0);
  }

  /// Notes the first of the values that go by one name; all others are compared
  /// with it.
  LogicalResult enter(pipe::FragmentAttr at, Operation *op) {
    if (isa<pipe::InputOp>(op))
      checker.addInput(op->getResult(0));
    std::optional<SharedName> name = sharedName(at, op);
    if (!name && isa<pipe::SendOp, pipe::ReceivedOp>(op))
      return op->emitOpError("expected a pipe.crossing of \"")
             << at.getEntry() << "\" that names it, found none";
    if (!name)
      return success();
    Value value = sharedValue(op);
    if (!dist::shardingOf(value) || !dist::globalShapeOf(value))
      return op->emitOpError("expected the sharding and the global shape of ")
             << *name << " (" << dist::shardingsAttrName << ", "
             << dist::globalShapesAttrName << ")";
    shared.try_emplace(*name, value);
    return success();
  }

  //===--- checks -----------------------------------------------------===//

  LogicalResult check(pipe::FragmentAttr at, Operation *op) {
    if (std::optional<SharedName> name = sharedName(at, op))
      return checkShared(op, *name);
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](pipe::ParamOp o) { return checkParameter(o); })
        .Case([&](pipe::AccumulateOp o) { return checkGradient(at, o); })
        .Case([&](pipe::LossOp loss) {
          std::string problem =
              checker.checkLoss(checker.states(loss.getValue()));
          return problem.empty()
                     ? success()
                     : loss.emitOpError("expected the loss ") << problem;
        })
        .Case([&](pipe::ExportOp o) { return checkExport(o); })
        .Case([](pipe::SampleOp) { return success(); })
        .Default([&](Operation *other) { return checker.checkOp(other); });
  }

  LogicalResult checkShared(Operation *op, const SharedName &name) {
    Value value = sharedValue(op), first = shared.at(name);
    if (checker.states(value) != checker.states(first))
      return op->emitOpError("expected ")
             << name << " in one sharding in all fragments, found "
             << dist::shardingOf(first) << " and " << dist::shardingOf(value);
    if (dist::globalShapeOf(value) != dist::globalShapeOf(first))
      return op->emitOpError("expected ")
             << name << " of one global shape in all fragments, found "
             << dist::globalShapeOf(first) << " and "
             << dist::globalShapeOf(value);
    return checker.checkLocal(op, value);
  }

  /// The record of a parameter; fails after a diagnostic.
  FailureOr<pipe::ParameterOp> record(Operation *op, StringAttr name) {
    if (auto it = parameters.find(name.str()); it != parameters.end())
      return it->second;
    return op->emitOpError("expected a pipe.parameter of the name ")
           << name << ", found none";
  }

  LogicalResult checkParameter(pipe::ParamOp op) {
    FailureOr<pipe::ParameterOp> parameter = record(op, op.getNameAttr());
    if (failed(parameter))
      return failure();
    dist::ShardingAttr sharding = parameter->getShardingAttr();
    if (checker.states(op.getResult()) != statesOf(checker.mesh, sharding) ||
        op.getType() != parameter->getType())
      return op.emitOpError("expected the parameter ")
             << op.getNameAttr() << " as its pipe.parameter says, "
             << parameter->getType() << " in " << sharding << ", found "
             << op.getType() << " in " << dist::shardingOf(op.getResult());
    return checker.checkLocal(op, op.getResult());
  }

  /// Forms of a fragment make the same gradients: a microbatch runs one of
  /// them.
  LogicalResult checkGradient(pipe::FragmentAttr at, pipe::AccumulateOp op) {
    FailureOr<pipe::ParameterOp> parameter = record(op, op.getParamAttr());
    if (failed(parameter))
      return failure();
    auto &forms = uses[op.getParam().str()][op.getUse()];
    if (!forms.insert(at.getForm()).second)
      return op.emitOpError("expected one gradient of use ")
             << op.getUse() << " of " << op.getParamAttr()
             << ", found another of the same use";
    std::vector<State> found = checker.states(op.getValue());
    std::string problem = checker.checkGradient(
        found, statesOf(checker.mesh, parameter->getShardingAttr()));
    if (!problem.empty())
      return op.emitOpError("expected the gradient of ")
             << op.getParamAttr() << " " << problem;
    std::set<std::string> partial = checker.partialAxes(found);
    if (parameter->getParam().getRepeats())
      partial.emplace(groupName(MTC_GROUP_KV));
    return checkPartial(op, partial);
  }

  /// What the update sums is what rt.param says.
  LogicalResult checkPartial(pipe::AccumulateOp op,
                             const std::set<std::string> &found) {
    std::set<std::string> said;
    auto row = rows.find({op.getParam().str(), op.getUse()});
    if (row != rows.end())
      for (MtcGroup group : row->second.partialGroups())
        said.emplace(groupName(group));
    if (found == said)
      return success();
    return op.emitOpError("expected the gradient of use ")
           << op.getUse() << " of " << op.getParamAttr()
           << " to be partial over what its rt.param says, " << listOf(said)
           << ", found " << listOf(found);
  }
  static std::string listOf(const std::set<std::string> &axes) {
    return axes.empty() ? "nothing" : llvm::join(axes, ", ");
  }

  /// Every gradient of a parameter is accumulated. Behind bucket-gradients all
  /// fragments are still in one module, so that uses of other stages count.
  LogicalResult checkUses(pipe::ParameterOp parameter) {
    auto found = llvm::make_first_range(uses[parameter.getName().str()]);
    int64_t expected = parameter.getUses();
    if (llvm::equal(found, llvm::seq<int64_t>(expected)))
      return success();
    auto diag = parameter.emitOpError("expected gradients of uses 0 to ")
                << expected - 1 << ", found ";
    if (found.empty())
      return diag << "none";
    diag << "those of uses ";
    llvm::interleaveComma(found, diag);
    return diag;
  }

  LogicalResult checkExport(pipe::ExportOp op) {
    auto said = op->getAttrOfType<dist::ShardingAttr>(dist::shardingAttrName);
    std::vector<State> found = checker.states(op.getValue());
    if (said && statesOf(checker.mesh, said) == found &&
        llvm::none_of(found, isPartial))
      return success();
    return op.emitOpError("expected a value in full in the sharding that ")
           << dist::shardingAttrName << " says, found "
           << dist::shardingOf(op.getValue());
  }

  StateChecker checker;
  int64_t stages = 1; ///< that fragments are of
  SmallVector<pipe::CrossingOp> crossings;
  std::map<std::string, pipe::ParameterOp> parameters;         ///< by name
  std::map<std::pair<std::string, int64_t>, rt::ParamOp> rows; ///< by use
  /// That have a gradient, in fragments of which forms: by parameter and use.
  std::map<std::string, std::map<int64_t, std::set<pipe::Form>>> uses;
  std::map<SharedName, Value> shared; ///< the first of each
};

struct VerifyFragmentsPass
    : mtc::passes::FamilyPass<
          passes::impl::VerifyFragmentsBase<VerifyFragmentsPass>> {
  void runPhase() override {
    dist::MeshAttr mesh = dist::meshOf(getOperation());
    if (!mesh) {
      getOperation().emitError("expected the mesh as module attribute ")
          << dist::meshAttrName;
      return signalPassFailure();
    }
    if (failed(FragmentsVerifier(mesh).run(getOperation())))
      signalPassFailure();
  }
};

} // namespace

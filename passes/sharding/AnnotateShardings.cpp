//===- AnnotateShardings.cpp - --annotate-shardings -----------------------===//
//
// Establishes: every parameter and input of @microbatch has dist.sharding, and
// every op that names the axes of its result dist.shardings.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tables.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/sharding/ir_graph.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

namespace mtc::passes {
#define GEN_PASS_DEF_ANNOTATESHARDINGS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using sharding::State;

namespace {

/// `name=value,name=value` as pairs; false if it is not of that form.
bool parsePairs(StringRef text,
                SmallVectorImpl<std::pair<StringRef, StringRef>> &out) {
  SmallVector<StringRef> items;
  text.split(items, ',', -1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    auto [name, value] = item.split('=');
    if (name.empty() || value.empty())
      return false;
    out.push_back({name.trim(), value.trim()});
  }
  return true;
}

class Annotator {
public:
  Annotator(func::FuncOp fn, dist::MeshAttr mesh)
      : fn(fn), module(fn->getParentOfType<ModuleOp>()), mesh(mesh) {}

  LogicalResult run() {
    if (failed(checkRules(rulesOfModule())) || failed(checkWeakSplit()))
      return failure();
    readAxesOfInputs();
    for (unsigned i = 0; i < fn.getNumArguments(); ++i)
      if (failed(checkRules(rulesOfArgument(i))) || failed(annotate(i)))
        return failure();
    for (Operation &op : fn.front())
      if (op.hasAttr(tfm::axesAttr) && failed(annotate(&op)))
        return failure();
    return reportProblems();
  }

private:
  DictionaryAttr rulesOfModule() const {
    return module->getAttrOfType<DictionaryAttr>(dist::rulesAttrName);
  }
  DictionaryAttr rulesOfArgument(unsigned i) {
    return fn.getArgAttrOfType<DictionaryAttr>(i, dist::rulesAttrName);
  }

  /// `rules` may be null; "" is no axis.
  LogicalResult checkRules(DictionaryAttr rules) {
    for (NamedAttribute rule :
         rules ? rules.getValue() : ArrayRef<NamedAttribute>()) {
      auto axis = dyn_cast<StringAttr>(rule.getValue());
      if (!axis)
        return module.emitError("expected dist.rules to map logical axes to "
                                "names of mesh axes, found ")
               << rule.getValue();
      if (!axis.empty() && mesh.indexOf(axis) < 0)
        return module.emitError("expected an axis of the mesh ")
               << mesh << " in dist.rules, found " << axis;
    }
    return success();
  }

  LogicalResult checkWeakSplit() {
    Attribute attr = module->getAttr(dist::weakSplitAttrName);
    auto weak = dyn_cast_if_present<dist::WeakSplitAttr>(attr);
    if (!attr || (weak && mesh.indexOf(weak.getMesh()) >= 0))
      return success();
    return module.emitError("expected ")
           << dist::weakSplitAttrName
           << " to be a #dist.weak_split over an axis of the mesh " << mesh
           << ", found " << attr;
  }

  /// What is annotated: its name in messages, its type, the logical axis of
  /// each dimension, its own rules (or null), and whether ranks that have other
  /// data have the same of it.
  struct Annotated {
    StringRef name;
    RankedTensorType type;
    ArrayAttr axes;
    DictionaryAttr rules;
    bool isOfModel;
  };

  /// Mesh axis of a logical axis: by its own rules, else by the module's; "" if
  /// it is not split. What the module's rules say of axes of the inputs splits
  /// the data: ranks have the same of the model, also where this has a row per
  /// position.
  StringRef meshAxis(const Annotated &what, StringRef logical) {
    auto find = [&](DictionaryAttr rules) {
      return rules ? rules.getAs<StringAttr>(logical) : StringAttr();
    };
    if (StringAttr own = find(what.rules))
      return own.getValue();
    if (what.isOfModel && axesOfInputs.contains(logical))
      return "";
    StringAttr general = find(rulesOfModule());
    return general ? general.getValue() : "";
  }

  void readAxesOfInputs() {
    for (unsigned i = 0; i < fn.getNumArguments(); ++i)
      if (auto input = fn.getArgAttrOfType<tfm::InputAttr>(i, "tfm.input"))
        for (auto axis : input.getAxes().getAsRange<StringAttr>())
          axesOfInputs.insert(axis);
  }

  LogicalResult annotate(unsigned i) {
    auto param = fn.getArgAttrOfType<tfm::ParamAttr>(i, "tfm.param");
    auto input = fn.getArgAttrOfType<tfm::InputAttr>(i, "tfm.input");
    if (!param && !input)
      return success();
    auto type = cast<RankedTensorType>(fn.getArgument(i).getType());
    StringRef name = param ? param.getName() : input.getName();
    ArrayAttr axes = param ? param.getAxes() : input.getAxes();
    FailureOr<dist::ShardingAttr> sharding =
        shardingOf({name, type, axes, rulesOfArgument(i), !!param});
    if (failed(sharding))
      return failure();
    fn.setArgAttr(i, dist::shardingAttrName, *sharding);
    return success();
  }

  LogicalResult annotate(Operation *op) {
    auto axes = op->getAttrOfType<ArrayAttr>(tfm::axesAttr);
    if (!axes || op->getNumResults() != 1 ||
        !llvm::all_of(axes, llvm::IsaPred<StringAttr>))
      return op->emitOpError("expected ")
             << tfm::axesAttr
             << ", an array of strings, on an op of one result, found "
             << op->getAttr(tfm::axesAttr);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    FailureOr<dist::ShardingAttr> sharding =
        shardingOf({op->getName().getStringRef(), type, axes, {}, true});
    if (failed(sharding))
      return failure();
    dist::setSharding(op->getResult(0), *sharding);
    return success();
  }

  FailureOr<dist::ShardingAttr> shardingOf(const Annotated &what) {
    RankedTensorType type = what.type;
    if (static_cast<int64_t>(what.axes.size()) != type.getRank())
      return fn.emitOpError("expected one logical axis per dimension of \"")
             << what.name << "\" (" << type.getRank() << "), found "
             << what.axes.size();
    auto sharding =
        dist::ShardingAttr::replicated(fn.getContext(), type.getRank());
    for (auto [dim, axis] : llvm::enumerate(what.axes)) {
      StringRef target = meshAxis(what, cast<StringAttr>(axis).getValue());
      if (mesh.sizeOf(target) == 1)
        continue;
      std::string problem =
          problemOf(what.axes, dim, type.getDimSize(dim), target, sharding);
      if (problem.empty())
        sharding = sharding.with(mesh, target, dim);
      else
        problems[problem].push_back(what.name);
    }
    return sharding;
  }

  /// Why the dimension cannot be split over a mesh axis; empty if it can.
  std::string problemOf(ArrayAttr axes, int64_t dim, int64_t size,
                        StringRef axis, dist::ShardingAttr sharding) {
    auto nameOf = [&](int64_t d) {
      return cast<StringAttr>(axes[d]).getValue();
    };
    if (State other = sharding.stateOf(axis); other >= 0)
      return llvm::formatv("at most one dimension over \"{0}\", found '{1}' "
                           "and '{2}'; an override that gives one of them "
                           "\"none\" leaves it whole",
                           axis, nameOf(other), nameOf(dim));
    int64_t parts = mesh.sizeOf(axis);
    if (size % parts != 0)
      return llvm::formatv("'{0}' in equal parts over \"{1}\", found a size "
                           "of {2} and {3} parts; an override that gives it "
                           "\"none\" leaves it whole",
                           nameOf(dim), axis, size, parts);
    return "";
  }

  /// One error for all parameters and inputs with the same problem.
  LogicalResult reportProblems() {
    for (auto &[problem, names] : problems) {
      auto diag = fn.emitOpError("expected of \"") << names.front() << "\"";
      if (names.size() > 1)
        diag << " and " << names.size() - 1 << " more";
      diag << " " << problem;
    }
    return success(problems.empty());
  }

  func::FuncOp fn;
  ModuleOp module;
  dist::MeshAttr mesh;
  llvm::StringSet<> axesOfInputs;                         ///< logical
  std::map<std::string, std::vector<StringRef>> problems; ///< to names
};

struct AnnotateShardingsPass
    : mtc::passes::PhasePass<
          passes::impl::AnnotateShardingsBase<AnnotateShardingsPass>> {
  using PhasePass::PhasePass;

  LogicalResult readOptions(ModuleOp module) {
    Builder b(module.getContext());
    SmallVector<std::pair<StringRef, StringRef>> axes, pairs;
    if (!parsePairs(mesh, axes) || !parsePairs(rules, pairs))
      return module.emitError("expected options like mesh=dp=2,tp=4 and "
                              "rules=ffn=tp, found mesh=\"")
             << mesh << "\" rules=\"" << rules << "\"";
    SmallVector<StringAttr> names;
    SmallVector<int64_t> sizes;
    for (auto [name, size] : axes) {
      names.push_back(b.getStringAttr(name));
      if (size.getAsInteger(10, sizes.emplace_back()))
        return module.emitError("expected a size for mesh axis \"")
               << name << "\", found \"" << size << "\"";
    }
    if (!names.empty()) {
      auto attr = dist::MeshAttr::getChecked([&] { return module.emitError(); },
                                             module.getContext(),
                                             ArrayRef(names), ArrayRef(sizes));
      if (!attr)
        return failure();
      module->setAttr(dist::meshAttrName, attr);
    }
    SmallVector<NamedAttribute> table;
    for (auto [logical, axis] : pairs)
      table.push_back(b.getNamedAttr(logical, b.getStringAttr(axis)));
    if (!table.empty())
      module->setAttr(dist::rulesAttrName, b.getDictionaryAttr(table));
    return success();
  }

  void runPhase() override {
    if (failed(readOptions(getOperation())))
      return signalPassFailure();
    auto run = [](func::FuncOp fn) {
      return Annotator(fn, dist::meshOf(fn)).run();
    };
    if (failed(sharding::onMicrobatches(getOperation(), run)))
      signalPassFailure();
  }
};

} // namespace

//===- cases.cpp - every op of a plan in a fragment of its own ------------===//
#include "cases.h"

#include "dialects/rt/Rt.h"
#include "passes/target/target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <set>

using namespace mlir;

namespace mtc::test {
namespace {

/// Sizes of arenas are multiples of it (descriptor_check.cpp).
constexpr int64_t kArenaAlignment = 4096;

rt::KernelOp kernelOf(rt::LaunchOp launch) {
  return SymbolTable::lookupNearestSymbolFrom<rt::KernelOp>(
      launch, launch.getKernelAttr());
}

/// What the op is, apart from where it stands and works.
std::string identity(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getName();
  for (StringAttr name : op->getName().getAttributeNames())
    if (name != "kernel" && name != "rng_layer")
      os << " " << name.getValue() << "=" << op->getAttr(name);
  os << " " << op->getOperandTypes();
  if (auto launch = dyn_cast<rt::LaunchOp>(op))
    if (rt::KernelOp kernel = kernelOf(launch)) {
      OwningOpRef<rt::KernelOp> nameless(kernel.clone());
      nameless->setSymName("kernel");
      os << " " << *nameless;
    }
  return text;
}

class Isolator {
public:
  explicit Isolator(ModuleOp module)
      : module(module), target(*target::Target::of(module)),
        b(module.getContext()) {}

  std::vector<Case> run() {
    for (auto program : module.getOps<rt::ProgramOp>())
      isolate(program);
    return std::move(cases);
  }

private:
  void isolate(rt::ProgramOp program) {
    this->program = program;
    planned = (*program.getArenas())[MTC_ARENA_WORKSPACE];
    std::vector<func::FuncOp> fragments(program.getOps<func::FuncOp>().begin(),
                                        program.getOps<func::FuncOp>().end());
    standAlone();
    for (func::FuncOp fragment : fragments)
      for (Operation &op : fragment.getBody().front())
        if (isa<rt::AccessOpInterface>(op)) {
          add(&op, nullptr);
          addForms(&op);
        }
    for (func::FuncOp fragment : fragments)
      fragment.erase();
    eraseRest();
  }

  /// What continues a product or a sum is a case without it.
  void standAlone() {
    program.walk([](rt::LaunchOp launch) { launch.setContinues(false); });
    program.walk([](rt::NormOp norm) { norm.setContinues(false); });
    program.walk([](rt::KernelOp kernel) { kernel.setTiled(false); });
  }

  /// Everything of the program that names fragments, or that no case needs.
  void eraseRest() {
    std::set<std::string> used;
    program.walk([&](rt::LaunchOp op) { used.insert(op.getKernel().str()); });
    for (Operation &op :
         llvm::make_early_inc_range(program.getBody().front())) {
      auto kernel = dyn_cast<rt::KernelOp>(op);
      if (isa<rt::TensorFormOp, rt::ExportSlotOp, rt::InputSlotOp>(op) ||
          (kernel && !used.contains(kernel.getSymName().str())))
        op.erase();
      else if (auto timeline = dyn_cast<rt::TimelineOp>(op))
        timeline.setRows({});
    }
  }

  /// Accumulators are f32.
  static bool addsInF32(rt::GemmOp gemm) {
    auto c = cast<ShapedType>(gemm.getC().getType());
    return c.getElementType().isF32();
  }

  /// Forms that are legal on the same buffers.
  void addForms(Operation *op) {
    if (isa<rt::GemmOp>(op))
      for (unsigned form = 0; form < 8; ++form)
        add(op, [form](Operation *copy) {
          auto gemm = cast<rt::GemmOp>(copy);
          gemm.setTa(form & 1);
          gemm.setTb(form & 2);
          gemm.setBeta(form & 4);
          gemm.setStoresFirst(false);
          gemm.setCountsLast(false);
          return !gemm.getBeta() || addsInF32(gemm);
        });
    if (isa<rt::GemmOp>(op))
      add(op, [](Operation *copy) {
        auto gemm = cast<rt::GemmOp>(copy);
        gemm.setBeta(true);
        gemm.setCountsLast(true);
        return gemm.getKernel() == rt::GemmKernel::Own && addsInF32(gemm);
      });
    if (isa<rt::AttentionOp>(op))
      for (unsigned form = 0; form < 2; ++form)
        add(op, [form](Operation *copy) {
          auto attention = cast<rt::AttentionOp>(copy);
          attention.setCausal(form & 1);
          attention.setRate(APFloat(0.0));
          return true;
        });
  }

  using Change = llvm::function_ref<bool(Operation *)>;

  /// A fragment with a copy of the op, changed, unless there is one like it;
  /// none if the change says that there is no such op.
  void add(Operation *op, Change change) {
    b.setInsertionPointToEnd(&program.getBody().front());
    auto from = op->getParentOfType<func::FuncOp>();
    auto fragment = func::FuncOp::create(
        b, op->getLoc(),
        fmt::format("stage{}_op{}", program.getStage(), fragments++),
        b.getFunctionType({}, {}));
    fragment->setAttr(pipe::FragmentAttr::attrName,
                      pipe::FragmentAttr::of(from));
    b.setInsertionPointToStart(fragment.addEntryBlock());
    IRMapping map;
    Operation *copy = cloneWithAddresses(op, map);
    func::ReturnOp::create(b, op->getLoc());
    if ((change && !change(copy)) || !enter(copy, fragment))
      fragment.erase();
  }

  Operation *cloneWithAddresses(Operation *op, IRMapping &map) {
    for (Value operand : op->getOperands())
      if (!map.contains(operand))
        cloneWithAddresses(operand.getDefiningOp(), map);
    return b.clone(*op, map);
  }

  bool enter(Operation *op, func::FuncOp fragment) {
    std::string key = identity(op);
    auto [at, fresh] = numbers.try_emplace(key, cases.size());
    if (fresh)
      cases.push_back({nameOf(op, fragment), {}});
    Case &found = cases[at->second];
    if (!found.stages
             .try_emplace(program.getStage(),
                          Case::Instance{op, fragment.getSymName().str()})
             .second)
      return false;
    giveScratch(op);
    return true;
  }

  std::string nameOf(Operation *op, func::FuncOp fragment) {
    std::string name = fmt::format("{} of {}", op->getName().getStringRef(),
                                   fragment.getSymName());
    if (auto launch = dyn_cast<rt::LaunchOp>(op))
      name += " (" + launch.getKernel().str() + ")";
    return name;
  }

  /// A changed call may need more scratch: that of all calls lies behind the
  /// workspace.
  void giveScratch(Operation *op) {
    FailureOr<int64_t> bytes = target.scratchBytes(op);
    if (failed(bytes) || *bytes == 0)
      return;
    SmallVector<int64_t> arenas(*program.getArenas());
    int64_t &workspace = arenas[MTC_ARENA_WORKSPACE];
    workspace = std::max<int64_t>(
        workspace, planned + llvm::alignTo(*bytes, kArenaAlignment));
    program.setArenas(arenas);
    b.setInsertionPoint(op);
    Value scratch = rt::ViewOp::create(
        b, op->getLoc(), MemRefType::get({*bytes}, b.getI8Type()),
        rt::ArenaAttr::get(b.getContext(), MTC_ARENA_WORKSPACE),
        b.getI64IntegerAttr(planned), rt::PoolAttr(), IntegerAttr());
    if (auto gemm = dyn_cast<rt::GemmOp>(op))
      gemm.getScratchMutable().assign(scratch);
    if (auto attention = dyn_cast<rt::AttentionOp>(op))
      attention.getScratchMutable().assign(scratch);
  }

  ModuleOp module;
  target::Target target;
  OpBuilder b;
  rt::ProgramOp program;
  int64_t planned = 0; ///< bytes of its workspace
  int64_t fragments = 0;
  std::vector<Case> cases;
  std::map<std::string, size_t> numbers; ///< of cases, by identity
};

} // namespace

std::string Case::text() const {
  std::string text;
  llvm::raw_string_ostream(text) << *op();
  return text;
}

bool Case::isCollective() const { return isa<rt::CollectiveOp>(op()); }

std::vector<Case> isolateOps(ModuleOp module) { return Isolator(module).run(); }

} // namespace mtc::test

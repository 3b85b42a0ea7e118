//===- make_cases.cpp - kernel cases of random kernels and of plans -------===//
//
//   make_cases FOLDER SEED RANDOM [PLAN.mlir...]
//
// writes FOLDER/cases.bin and a PTX file for RANDOM random kernels and for each
// plan (`mtc compile --save-ir`), whose kernels run on operands of their
// shapes. With SEED `shapes` the cases have shapes but no data: they are for
// timing.
//
//===----------------------------------------------------------------------===//
#include "kernel_case.h"

#include "compiler/register.h"
#include "passes/codegen/emit_ptx.h"
#include "passes/codegen/gpu_lower.h"
#include "test/unit/codegen/harness.h"
#include "test/unit/codegen/random_kernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

constexpr const char *kChip = "sm_90";
/// Columns of kernels that take them as an argument: odd, so that no vector
/// ends with them.
constexpr int64_t kColumns = 1003;

/// How the operands of one kernel are made.
struct Shape {
  int64_t rows = 1, cols = 1;
  bool dynamic = false;
  std::vector<int> sharesWith = {}; ///< empty: none shares
  bool positive = false; ///< numbers in [0.25, 1.25], else in [-2, 2]
};

std::string nameOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

int64_t countOf(rt::OperandAttr info, const Shape &shape) {
  switch (info.getMode()) {
  case rt::Mode::Full:
    return shape.rows * shape.cols;
  case rt::Mode::Row:
    return shape.rows;
  case rt::Mode::Col:
    return shape.cols;
  case rt::Mode::Scalar:
    return 1;
  default:
    return static_cast<int64_t>(info.getExtent()) * shape.cols;
  }
}

int64_t largestTable(rt::KernelOp kernel) {
  int64_t rows = 4;
  for (Attribute attr : kernel.getOperandsInfo())
    if (auto info = cast<rt::OperandAttr>(attr);
        info.getMode() == rt::Mode::Table)
      rows = std::max<int64_t>(rows, info.getExtent());
  return rows;
}

bool isStored(rt::KernelOp kernel, int64_t index) {
  for (Operation &op : kernel.getBody().front())
    if (auto store = dyn_cast<rt::StoreOp>(op))
      if (static_cast<int64_t>(store.getOperand()) == index)
        return true;
  return false;
}

bool isLoaded(rt::KernelOp kernel, int64_t index) {
  for (Operation &op : kernel.getBody().front()) {
    if (auto load = dyn_cast<rt::LoadOp>(op))
      if (static_cast<int64_t>(load.getOperand()) == index)
        return true;
    if (auto add = dyn_cast<rt::AccumulateOp>(op))
      if (static_cast<int64_t>(add.getOperand()) == index)
        return true;
  }
  return false;
}

/// Results start as NaN, row indices reach two rows beyond the table at both
/// ends, where kernels read zeros.
Buffer fill(std::mt19937 &rng, rt::KernelOp kernel, int64_t index,
            const Shape &shape) {
  auto info = cast<rt::OperandAttr>(kernel.getOperandsInfo()[index]);
  int64_t rows = largestTable(kernel);
  bool result = isStored(kernel, index) && !isLoaded(kernel, index);
  Buffer out;
  for (int64_t i = 0, n = countOf(info, shape); i < n; ++i) {
    double unit = double(rng() % 1001) / 1000;
    if (info.getElement().isInteger(32) && n == 1) // not the first of the table
      out.elements.push_back({0, 1, 0});
    else if (info.getElement().isInteger(32))
      out.elements.push_back({0, uint32_t(int64_t(rng() % (rows + 4)) - 2), 0});
    else if (result)
      out.elements.push_back({NAN, 0, 0});
    else
      out.elements.push_back(
          {roundToBf16(shape.positive ? unit + 0.25 : 4 * unit - 2), 0, 0});
  }
  return out;
}

std::vector<uint8_t> encode(Type type, const Buffer &buffer) {
  size_t width = type.getIntOrFloatBitWidth() / 8;
  std::vector<uint8_t> bytes(width * buffer.elements.size());
  for (auto [i, n] : llvm::enumerate(buffer.elements)) {
    float single = static_cast<float>(n.f);
    auto half = static_cast<_Float16>(single);
    uint32_t bits = static_cast<uint32_t>(n.i);
    if (isa<FloatType>(type))
      std::memcpy(&bits, &single, 4);
    if (type.isBF16())
      bits >>= 16;
    if (type.isF16())
      std::memcpy(&bits, &half, 2);
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}

void setExpected(CaseOperand &operand, const Buffer &buffer) {
  for (const Number &n : buffer.elements) {
    bool integer = operand.element == "i32";
    operand.expected.push_back(integer ? double(int32_t(n.i)) : n.f);
    // Twice the first-order bound, for the terms of second order, and what
    // flushing e^x below the smallest normal number loses.
    operand.tolerance.push_back(
        integer ? 0 : static_cast<float>(2 * n.error + 0x1p-126));
  }
}

bool hasHalf(rt::KernelOp kernel) {
  return llvm::any_of(kernel.getOperandsInfo(), [](Attribute attr) {
    return cast<rt::OperandAttr>(attr).getElement().isF16();
  });
}

/// Runs the CPU's code and the evaluator on `c`.
void compute(rt::KernelOp kernel, const Shape &shape, void *function,
             std::vector<Buffer> start, KernelCase &c) {
  std::vector<void *> pointers;
  for (CaseOperand &operand : c.operands)
    operand.cpu = operand.before;
  for (CaseOperand &operand : c.operands) {
    int64_t shared = operand.sharesWith;
    pointers.push_back((shared >= 0 ? c.operands[shared] : operand).cpu.data());
  }
  call(function, pointers, c.args);
  // The evaluator takes every half-precision number for a bf16.
  if (hasHalf(kernel) || evaluate(kernel, start, c.args, shape.cols) != "")
    return;
  for (auto [operand, buffer] : llvm::zip_equal(c.operands, start))
    if (operand.sharesWith < 0)
      setExpected(operand, buffer);
  // What shares memory comes out where that memory is.
  for (auto [operand, buffer] : llvm::zip_equal(c.operands, start))
    if (operand.sharesWith >= 0) {
      CaseOperand &place = c.operands[operand.sharesWith];
      place.expected.clear(), place.tolerance.clear();
      setExpected(place, buffer);
    }
}

/// The same where the guard says that nothing happens.
KernelCase leftOut(KernelCase c) {
  c.guard = 0;
  for (CaseOperand &operand : c.operands) {
    operand.cpu = operand.before;
    operand.expected.clear();
    for (uint64_t i = 0; i < operand.count; ++i)
      operand.expected.push_back(valueAt(operand.element, operand.before, i));
    operand.tolerance.assign(operand.count, 0);
  }
  return c;
}

/// A case without data.
KernelCase bareCase(rt::KernelOp kernel, const Shape &shape) {
  KernelCase c;
  c.kernel = kernel.getSymName().str();
  c.args = {0x123456789abcdef, 77, 259, 5};
  c.args.resize(kernel.getArgs());
  c.fields = c.args.size();
  c.guard = kernel.getGuarded() ? 1 : -1;
  if (shape.dynamic)
    c.args.push_back(shape.cols);
  for (auto [i, attr] : llvm::enumerate(kernel.getOperandsInfo())) {
    auto info = cast<rt::OperandAttr>(attr);
    CaseOperand &operand = c.operands.emplace_back();
    operand.element = nameOf(info.getElement());
    operand.count = countOf(info, shape);
    operand.sharesWith = shape.sharesWith.empty() ? -1 : shape.sharesWith[i];
  }
  return c;
}

void addLaunches(const codegen::GpuLaunch &launch, int64_t cols,
                 KernelCase &c) {
  c.workspaceBytes = launch.workspaceBytes;
  for (const codegen::GpuEntry &entry : launch.entries)
    c.launches.push_back({entry.name,
                          static_cast<uint64_t>(entry.blocksFor(cols)),
                          static_cast<uint64_t>(entry.threads),
                          static_cast<uint64_t>(entry.sharedBytes)});
}

void addData(rt::KernelOp kernel, const Shape &shape, void *function,
             std::mt19937 &rng, KernelCase &c) {
  std::vector<Buffer> start;
  for (auto [i, attr] : llvm::enumerate(kernel.getOperandsInfo())) {
    start.push_back(fill(rng, kernel, i, shape));
    c.operands[i].before =
        encode(cast<rt::OperandAttr>(attr).getElement(), start.back());
  }
  compute(kernel, shape, function, start, c);
}

class CaseMaker {
public:
  CaseMaker(std::string folder, const std::string &seed)
      : folder(std::move(folder)), shapesOnly(seed == "shapes"),
        rng(shapesOnly ? 0 : std::stoul(seed)) {}

  bool addRandom(int count) {
    auto context = makeContext();
    std::string text;
    std::vector<Shape> shapes;
    for (int i = 0; i < count; ++i) {
      RandomKernel k = makeRandomKernel(rng, "k" + std::to_string(i));
      text += k.text;
      shapes.push_back({k.rows, k.cols, k.dynamic, k.sharesWith});
    }
    auto module = parse(*context, text);
    if (!module)
      return false;
    for (auto [i, kernel] : llvm::enumerate(module->getOps<rt::KernelOp>()))
      kernel.setGuarded(i % 4 == 3);
    return add(*module, *module, "random.ptx", shapes);
  }

  bool addPlan(const std::string &path, const std::string &name) {
    auto context = makeContext();
    DialectRegistry registry;
    compiler::registerDialects(registry);
    context->appendDialectRegistry(registry);
    context->loadAllAvailableDialects();
    auto plan = parseSourceFile<ModuleOp>(path, context.get());
    if (!plan)
      return false;
    bool ok = true;
    plan->walk([&](rt::ProgramOp program) {
      std::string stage = std::to_string(program.getStage());
      ok = ok && addProgram(program, name + "_stage" + stage + ".ptx");
    });
    return ok;
  }

  bool save() const { return saveCases(folder + "/cases.bin", cases); }
  size_t size() const { return cases.size(); }

private:
  bool addProgram(rt::ProgramOp program, const std::string &name) {
    OpBuilder b(program.getContext());
    OwningOpRef<ModuleOp> module = ModuleOp::create(program.getLoc());
    b.setInsertionPointToEnd(module->getBody());
    std::vector<Shape> shapes;
    for (auto kernel : program.getOps<rt::KernelOp>()) {
      b.clone(*kernel);
      Shape shape{static_cast<int64_t>(kernel.getRows()),
                  static_cast<int64_t>(kernel.getCols())};
      shape.positive = true;
      shape.dynamic = shape.cols < 0;
      if (shape.dynamic)
        shape.cols = kColumns;
      shapes.push_back(shape);
    }
    return add(program, *module, name, shapes);
  }

  /// `module` has the kernels of `source`, which also says how aligned their
  /// operands are.
  bool add(Operation *source, ModuleOp module, const std::string &name,
           const std::vector<Shape> &shapes) {
    auto isa = codegen::hostIsa();
    codegen::loadGpuDialects(*source->getContext());
    auto ptx = codegen::emitPtx(source, {kChip});
    if (!isa || !ptx)
      return false;
    std::ofstream(folder + "/" + name) << ptx->code.front().ptx;
    std::optional<Library> library;
    if (!shapesOnly && !library.emplace(module, *isa).loaded())
      return false;
    for (auto [kernel, shape, launch] : llvm::zip_equal(
             module.getOps<rt::KernelOp>(), shapes, ptx->launches)) {
      cases.push_back(bareCase(kernel, shape));
      addLaunches(launch, shape.cols, cases.back());
      if (library)
        addData(kernel, shape, library->find(cases.back().kernel), rng,
                cases.back());
      cases.back().ptx = name;
      if (library && kernel.getGuarded())
        cases.push_back(leftOut(cases.back()));
    }
    return true;
  }

  std::string folder;
  bool shapesOnly;
  std::mt19937 rng;
  std::vector<KernelCase> cases;
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::cerr << "usage: make_cases FOLDER SEED RANDOM [PLAN.mlir...]\n";
    return 2;
  }
  CaseMaker maker(argv[1], argv[2]);
  bool ok = maker.addRandom(std::stoi(argv[3]));
  for (int i = 4; ok && i < argc; ++i)
    ok = maker.addPlan(argv[i], "plan" + std::to_string(i - 4));
  if (!ok || !maker.save()) {
    std::cerr << "the cases could not be made\n";
    return 1;
  }
  std::cout << maker.size() << " cases\n";
}

//===- harness.cpp - compile kernels and run them -------------------------===//
#include "harness.h"

#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <unistd.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

std::unique_ptr<MLIRContext> test::makeContext() {
  auto context =
      std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context
      ->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                    math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                    vector::VectorDialect, rt::RtDialect>();
  codegen::registerTranslations(*context);
  return context;
}

OwningOpRef<ModuleOp> test::parse(MLIRContext &context,
                                  const std::string &text) {
  return parseSourceString<ModuleOp>(text, &context);
}

OwningOpRef<ModuleOp> test::lowered(ModuleOp module, int64_t lanes,
                                    bool nativeBf16, int64_t threads) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager passes(module.getContext());
  passes.addPass(passes::createCodegenKernels({lanes, nativeBf16, threads}));
  codegen::addLowerToLlvmPasses(passes);
  if (failed(passes.run(*copy)))
    return {};
  return copy;
}

Library::Library(ModuleOp module, const codegen::TargetIsa &isa,
                 int64_t threads) {
  auto low = lowered(module, isa.lanes, isa.nativeBf16, threads);
  if (!low)
    return;
  std::string base =
      (std::filesystem::temp_directory_path() / "mtc_codegen_XXXXXX").string();
  if (!mkdtemp(base.data()))
    return;
  std::string object = base + "/k.o", shared = base + "/k.so";
  if (auto failed = codegen::emitObject(*low, isa, object)) {
    llvm::errs() << llvm::toString(std::move(failed)) << "\n";
  } else if (std::system(("cc -shared -o " + shared + " " + object +
                          (threads > 1 ? "" : " -Wl,--no-undefined"))
                             .c_str()) == 0) {
    handle = dlopen(shared.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  std::filesystem::remove_all(base);
}

Library::~Library() {
  if (handle)
    dlclose(handle);
}

void *Library::find(const std::string &name) const {
  return dlsym(handle, name.c_str());
}

Memory::Memory(Type type, const Buffer &initial)
    : type(type), width(type.getIntOrFloatBitWidth() / 8),
      count(initial.elements.size()), bytes(2 * kGuard + width * count, 0xA5) {
  for (size_t i = 0; i < count; ++i) {
    Number n = initial.elements[i];
    float single = static_cast<float>(n.f);
    uint32_t bits = static_cast<uint32_t>(n.i);
    if (isa<FloatType>(type))
      std::memcpy(&bits, &single, 4);
    if (type.isBF16())
      bits >>= 16;
    std::memcpy(bytes.data() + kGuard + i * width, &bits, width);
  }
}

Buffer Memory::read() const {
  Buffer out;
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + kGuard + i * width, width);
    Number n{0, bits, 0};
    if (type.isBF16())
      bits <<= 16;
    float single;
    std::memcpy(&single, &bits, 4);
    if (isa<FloatType>(type))
      n.f = single;
    out.elements.push_back(n);
  }
  return out;
}

bool Memory::guardsIntact() const {
  for (size_t i = 0; i < kGuard; ++i)
    if (bytes[i] != 0xA5 || bytes[bytes.size() - 1 - i] != 0xA5)
      return false;
  return true;
}

void test::call(void *function, const std::vector<void *> &operands,
                const std::vector<int64_t> &args) {
  constexpr size_t kMost = 32;
  std::array<int64_t, kMost> a = {};
  size_t n = 0;
  if (operands.size() + args.size() > kMost)
    std::abort(); // a test with more would pass garbage
  for (void *p : operands)
    a[n++] = reinterpret_cast<int64_t>(p);
  for (int64_t v : args)
    a[n++] = v;
  [&]<size_t... I>(std::index_sequence<I...>) {
    using F = void (*)(decltype(static_cast<int64_t>(I))...);
    reinterpret_cast<F>(function)(a[I]...);
  }
  (std::make_index_sequence<kMost>());
}

Number test::asFloat(double x) { return {static_cast<float>(x), 0, 0}; }

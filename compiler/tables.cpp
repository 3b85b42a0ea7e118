//===- tables.cpp - a program's tables as constants -----------------------===//

#include "compiler/tables.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstddef>

namespace mtc::compiler {
namespace {

namespace llvmir = mlir::LLVM;

/// A cubin is an ELF file, whose widest words have eight bytes; drivers may
/// copy it as they like.
constexpr uint64_t kCubinAlignment = 64;

class TableBuilder {
public:
  explicit TableBuilder(mlir::ModuleOp module)
      : module(module), builder(module.getBodyRegion()) {
    builder.setInsertionPointToEnd(module.getBody());
  }

  void text(llvm::StringRef name, const std::string &value,
            uint64_t alignment = 1) {
    std::string bytes = value;
    bytes.push_back('\0');
    constant(name, array(builder.getI8Type(), bytes.size()),
             builder.getStringAttr(bytes), alignment);
  }

  /// `count` words in one dimension, which LLVM keeps as bytes: of rows as
  /// arrays it makes a constant for each. What MLIR calls a resource is not
  /// copied into the context.
  void words(const std::string &name, int64_t count, mlir::Type type,
             mlir::AsmResourceBlob blob) {
    auto shape = mlir::RankedTensorType::get({count}, type);
    mlir::Attribute data;
    if (count == 0) // of which LLVM's translation makes no constant
      data = mlir::DenseElementsAttr::get(shape,
                                          llvm::ArrayRef<mlir::Attribute>());
    else
      data = mlir::DenseResourceElementsAttr::get(shape, name, std::move(blob));
    constant(name, array(type, count), data, sizeof(int64_t));
  }

  /// The address of what another object defines: the linker takes that along.
  void address(llvm::StringRef name, llvm::StringRef symbol) {
    auto pointer = llvmir::LLVMPointerType::get(module.getContext());
    llvmir::GlobalOp::create(builder, loc(), builder.getI8Type(),
                             /*isConstant=*/true, llvmir::Linkage::External,
                             symbol, mlir::Attribute());
    llvmir::GlobalOp global = constant(name, pointer, {}, sizeof(void *));
    mlir::OpBuilder inner(module.getContext());
    inner.createBlock(&global.getInitializerRegion());
    llvmir::ReturnOp::create(
        inner, loc(),
        llvmir::AddressOfOp::create(inner, loc(), pointer, symbol));
  }

  void functions(llvm::StringRef name, llvm::ArrayRef<PlanFragment> list) {
    std::vector<llvm::StringRef> names;
    for (const PlanFragment &fragment : list)
      names.push_back(fragment.name);
    addresses(name, names, list.size());
  }

  /// A list of what the runtime of the same file has, with null behind the
  /// last. Of that file alone: a shared object is opened by one that has all.
  void partsOfRuntime(llvm::StringRef list, llvm::ArrayRef<std::string> names) {
    std::vector<llvm::StringRef> parts(names.begin(), names.end());
    for (llvm::StringRef name : parts)
      llvmir::GlobalOp::create(builder, loc(), builder.getI8Type(),
                               /*isConstant=*/true, llvmir::Linkage::External,
                               name, mlir::Attribute());
    llvmir::GlobalOp table = addresses(list, parts, parts.size() + 1);
    table.setVisibility_(llvmir::Visibility::Hidden);
    table.setSection((".data.rel.ro." + list).str()); // which is left out there
  }

private:
  /// An array of `count` addresses, of which those behind `symbols` are null.
  llvmir::GlobalOp addresses(llvm::StringRef name,
                             llvm::ArrayRef<llvm::StringRef> symbols,
                             size_t count) {
    auto pointer = llvmir::LLVMPointerType::get(module.getContext());
    mlir::Type type = array(pointer, count);
    llvmir::GlobalOp global = constant(name, type, {}, sizeof(void *));
    mlir::OpBuilder inner(module.getContext());
    inner.createBlock(&global.getInitializerRegion());
    mlir::Value table = llvmir::ZeroOp::create(inner, loc(), type);
    for (size_t i = 0; i < symbols.size(); ++i) {
      mlir::Value address =
          llvmir::AddressOfOp::create(inner, loc(), pointer, symbols[i]);
      table = llvmir::InsertValueOp::create(inner, loc(), table, address,
                                            static_cast<int64_t>(i));
    }
    llvmir::ReturnOp::create(inner, loc(), table);
    return global;
  }

  mlir::Location loc() { return builder.getUnknownLoc(); }
  static mlir::Type array(mlir::Type element, size_t count) {
    return llvmir::LLVMArrayType::get(element, count);
  }
  llvmir::GlobalOp constant(llvm::StringRef name, mlir::Type type,
                            mlir::Attribute value, uint64_t alignment) {
    return llvmir::GlobalOp::create(builder, loc(), type, /*isConstant=*/true,
                                    llvmir::Linkage::External, name, value,
                                    alignment);
  }

  mlir::ModuleOp module;
  mlir::OpBuilder builder;
};

/// Rows as words: a row is nothing else.
llvm::ArrayRef<int32_t> wordsOf(const std::vector<MtcStep> &rows) {
  static_assert(sizeof(MtcStep) == 8 * sizeof(int32_t) &&
                offsetof(MtcStep, kind) == 0 && offsetof(MtcStep, last) == 28);
  return {reinterpret_cast<const int32_t *>(rows.data()), 8 * rows.size()};
}

} // namespace

std::string appendTables(mlir::ModuleOp module, const ProgramPlan &program,
                         llvm::ArrayRef<PlanFragment> fragments,
                         const RuntimeKernels &kernels,
                         const std::string &descriptor) {
  module.getContext()->loadDialect<llvmir::LLVMDialect>();
  for (const PlanFragment &fragment : fragments)
    if (!module.lookupSymbol<llvmir::LLVMFuncOp>(fragment.name))
      return fragment.name;
  TableBuilder tables(module);
  tables.text("mtc_descriptor", descriptor);
  for (const codegen::GpuCode &code : program.gpu.code) {
    tables.text("mtc_ptx_" + code.chip, code.ptx);
    if (!code.cubin.empty())
      tables.text("mtc_cubin_" + code.chip, code.cubin, kCubinAlignment);
  }
  if (!program.gpu.code.empty()) {
    tables.address("mtc_device", "mtc_cuda_device");
    tables.partsOfRuntime("mtc_gpu_texts", kernels.texts);
  }
  tables.functions("mtc_fragments", fragments);
  tables.partsOfRuntime("mtc_kernel_sets", kernels.sets);
  mlir::Builder types(module.getContext());
  auto add32 = [&](const std::string &name, llvm::ArrayRef<int32_t> words) {
    tables.words(name, words.size(), types.getI32Type(),
                 mlir::UnmanagedAsmResourceBlob::allocateInferAlign(words));
  };
  for (const PlanTimeline &timeline : program.timelines)
    add32("mtc_timeline_" + timeline.entry, wordsOf(timeline.rows));
  if (!program.slots.empty())
    add32("mtc_slots", program.slots);
  if (std::vector<int64_t> words = transferWords(program.transfers);
      !words.empty())
    tables.words("mtc_transfers", words.size(), types.getI64Type(),
                 mlir::HeapAsmResourceBlob::allocateAndCopyInferAlign(
                     llvm::ArrayRef<int64_t>(words)));
  return "";
}

} // namespace mtc::compiler

//===- tables.cpp - a program's tables as constants -----------------------===//

#include "compiler/tables.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mtc::compiler {
namespace {

namespace llvmir = mlir::LLVM;

class TableBuilder {
public:
  explicit TableBuilder(mlir::ModuleOp module)
      : module(module), builder(module.getBodyRegion()) {
    builder.setInsertionPointToEnd(module.getBody());
  }

  void text(llvm::StringRef name, const std::string &value) {
    std::string bytes = value;
    bytes.push_back('\0');
    constant(name, array(builder.getI8Type(), bytes.size()),
             builder.getStringAttr(bytes), 1);
  }

  /// `values` in rows of `width` elements of `type`.
  template <typename T>
  void rows(llvm::StringRef name, llvm::ArrayRef<T> values, int64_t width,
            mlir::Type type) {
    int64_t count = static_cast<int64_t>(values.size()) / width;
    auto shape = mlir::RankedTensorType::get({count, width}, type);
    constant(name, array(array(type, width), count),
             mlir::DenseElementsAttr::get(shape, values), sizeof(int64_t));
  }

  /// An array of addresses of functions.
  void functions(llvm::StringRef name, const std::vector<PlanFragment> &list) {
    auto pointer = llvmir::LLVMPointerType::get(module.getContext());
    mlir::Type type = array(pointer, list.size());
    llvmir::GlobalOp global = constant(name, type, {}, sizeof(void *));
    mlir::OpBuilder inner(module.getContext());
    inner.createBlock(&global.getInitializerRegion());
    mlir::Value table = llvmir::UndefOp::create(inner, loc(), type);
    for (size_t i = 0; i < list.size(); ++i) {
      mlir::Value address = llvmir::AddressOfOp::create(
          inner, loc(), pointer, llvm::StringRef(list[i].name));
      table = llvmir::InsertValueOp::create(inner, loc(), table, address,
                                            static_cast<int64_t>(i));
    }
    llvmir::ReturnOp::create(inner, loc(), table);
  }

private:
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

} // namespace

std::string appendTables(mlir::ModuleOp module, const ProgramPlan &program,
                         const std::string &descriptor) {
  module.getContext()->loadDialect<llvmir::LLVMDialect>();
  for (const PlanFragment &fragment : program.fragments)
    if (!module.lookupSymbol<llvmir::LLVMFuncOp>(fragment.name))
      return fragment.name;
  TableBuilder tables(module);
  tables.text("mtc_descriptor", descriptor);
  tables.functions("mtc_fragments", program.fragments);
  int64_t first = 0;
  mlir::Builder types(module.getContext());
  for (const PlanTimeline &timeline : program.timelines)
    tables.rows<int32_t>("mtc_timeline_" + timeline.entry,
                         timelineWords(program, timeline, first), kStepWords,
                         types.getI32Type());
  if (std::vector<int64_t> words = transferWords(program); !words.empty())
    tables.rows<int64_t>("mtc_transfers", words, kTransferWords,
                         types.getI64Type());
  if (!program.slots.empty())
    tables.rows<int32_t>("mtc_slots", program.slots, program.descriptor.pools,
                         types.getI32Type());
  return "";
}

} // namespace mtc::compiler

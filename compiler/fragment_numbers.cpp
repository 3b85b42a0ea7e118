//===- fragment_numbers.cpp - what like fragments differ in ---------------===//

#include "compiler/fragment_numbers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include <algorithm>

namespace llvmir = mlir::LLVM;

namespace mtc::compiler {
namespace {

/// Of constants of 32 bits the lower half is read, which lies in front.
bool isNumber(llvmir::ConstantOp constant) {
  return (constant.getType().isInteger(64) ||
          constant.getType().isInteger(32)) &&
         llvm::isa<mlir::IntegerAttr>(constant.getValue()) &&
         llvm::none_of(constant->getUsers(), llvm::IsaPred<llvmir::AllocaOp>);
}

std::vector<llvmir::ConstantOp> numbersOf(mlir::ModuleOp fragments) {
  std::vector<llvmir::ConstantOp> found;
  for (auto function : fragments.getOps<llvmir::LLVMFuncOp>())
    function.walk([&](llvmir::ConstantOp constant) {
      if (isNumber(constant))
        found.push_back(constant);
    });
  return found;
}

std::vector<llvmir::GlobalOp> arraysOf(mlir::ModuleOp fragments) {
  std::vector<llvmir::GlobalOp> found;
  for (auto global : fragments.getOps<llvmir::GlobalOp>())
    if (global.getConstant() &&
        global.getLinkage() == llvmir::Linkage::Internal &&
        global.getInitializerRegion().empty())
      found.push_back(global);
  return found;
}

void setNumber(llvmir::ConstantOp constant, int64_t value) {
  constant.setValueAttr(mlir::IntegerAttr::get(constant.getType(), value));
}

/// For objects of one program.
void makeShared(llvmir::GlobalOp global) {
  global.setLinkage(llvmir::Linkage::External);
  global.setVisibility_(llvmir::Visibility::Hidden);
}

/// An array of 64-bit words for objects of one program, which is another
/// object's without a value.
llvmir::GlobalOp addArray(mlir::ModuleOp module, llvm::StringRef name,
                          mlir::Type type, mlir::Attribute value) {
  mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(module.getBody());
  auto array = llvmir::GlobalOp::create(
      b, module.getLoc(), type, /*isConstant=*/true, llvmir::Linkage::External,
      name, value, /*alignment=*/sizeof(int64_t));
  makeShared(array);
  return array;
}

mlir::Type wordsOf(mlir::ModuleOp module, size_t count) {
  return llvmir::LLVMArrayType::get(
      mlir::IntegerType::get(module.getContext(), 64), count);
}

/// Loads number `index` of `table` in place of a constant.
void readInstead(llvmir::ConstantOp constant, llvmir::GlobalOp table,
                 int64_t index) {
  mlir::OpBuilder b(constant);
  auto pointer = llvmir::LLVMPointerType::get(b.getContext());
  mlir::Value begin = llvmir::AddressOfOp::create(b, constant.getLoc(), pointer,
                                                  table.getSymName());
  mlir::Value at = llvmir::GEPOp::create(
      b, constant.getLoc(), pointer, table.getGlobalType(), begin,
      llvm::ArrayRef<llvmir::GEPArg>{0, static_cast<int32_t>(index)});
  mlir::Value value =
      llvmir::LoadOp::create(b, constant.getLoc(), constant.getType(), at);
  constant.replaceAllUsesWith(value);
  constant.erase();
}

/// Indices at which not all of `programs` have what the first has.
template <typename T>
std::vector<size_t> differencesOf(llvm::ArrayRef<FragmentNumbers> programs,
                                  std::vector<T> FragmentNumbers::*list) {
  std::vector<size_t> different;
  const std::vector<T> &first = programs.front().*list;
  for (size_t i = 0; i < first.size(); ++i)
    if (llvm::any_of(programs.drop_front(), [&](const FragmentNumbers &other) {
          return (other.*list)[i] != first[i];
        }))
      different.push_back(i);
  return different;
}

bool isIn(llvm::ArrayRef<size_t> ascending, size_t index) {
  return std::binary_search(ascending.begin(), ascending.end(), index);
}

} // namespace

FragmentNumbers takeNumbers(mlir::ModuleOp fragments) {
  FragmentNumbers numbers;
  for (llvmir::ConstantOp constant : numbersOf(fragments)) {
    numbers.constants.push_back(
        llvm::cast<mlir::IntegerAttr>(constant.getValue()).getInt());
    setNumber(constant, 0);
  }
  for (llvmir::GlobalOp global : arraysOf(fragments)) {
    numbers.arrays.push_back({global.getSymNameAttr(), global.getGlobalType(),
                              global.getValueAttr()});
    global.removeValueAttr();
  }
  return numbers;
}

bool areAlike(mlir::ModuleOp skeleton, mlir::ModuleOp other) {
  return mlir::OperationEquivalence::isRegionEquivalentTo(
      &skeleton.getBodyRegion(), &other.getBodyRegion(),
      mlir::OperationEquivalence::IgnoreLocations);
}

DifferentNumbers findDifferent(mlir::ModuleOp skeleton,
                               llvm::ArrayRef<FragmentNumbers> programs) {
  std::string name = "mtc_numbers";
  while (skeleton.lookupSymbol(name)) // of edited IR
    name += "_";
  return {differencesOf(programs, &FragmentNumbers::constants),
          differencesOf(programs, &FragmentNumbers::arrays), name};
}

void putNumbers(mlir::ModuleOp skeleton, const FragmentNumbers &numbers,
                const DifferentNumbers &different) {
  std::vector<llvmir::ConstantOp> constants = numbersOf(skeleton);
  std::vector<llvmir::GlobalOp> arrays = arraysOf(skeleton);
  for (size_t i = 0; i < arrays.size(); ++i)
    if (isIn(different.arrays, i))
      makeShared(arrays[i]);
    else
      arrays[i].setValueAttr(numbers.arrays[i].value);
  llvmir::GlobalOp table;
  if (!different.constants.empty())
    table = addArray(skeleton, different.table,
                     wordsOf(skeleton, different.constants.size()), {});
  int64_t next = 0;
  for (size_t i = 0; i < constants.size(); ++i)
    if (isIn(different.constants, i))
      readInstead(constants[i], table, next++);
    else
      setNumber(constants[i], numbers.constants[i]);
}

void defineNumbers(mlir::ModuleOp tables, const FragmentNumbers &numbers,
                   const DifferentNumbers &different) {
  for (size_t index : different.arrays) {
    const ConstantArray &array = numbers.arrays[index];
    addArray(tables, array.name, array.type, array.value);
  }
  if (different.constants.empty())
    return;
  std::vector<int64_t> words;
  for (size_t index : different.constants)
    words.push_back(numbers.constants[index]);
  auto shape = mlir::RankedTensorType::get(
      {static_cast<int64_t>(words.size())},
      mlir::IntegerType::get(tables.getContext(), 64));
  addArray(tables, different.table, wordsOf(tables, words.size()),
           mlir::DenseElementsAttr::get(shape, llvm::ArrayRef(words)));
}

} // namespace mtc::compiler

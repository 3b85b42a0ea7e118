//===- kernel_addresses.cpp - where in the whole kernels are --------------===//
//
// A kernel gets its rank's place in the model as arguments, and makes of them
// and of its row and column the number of a random word, the row of a table, a
// position, or the logit that a label is compared with. No value that it reads
// or writes would show another. So each of these numbers is followed through
// the body, and held to what sizes and mesh say of the part that the rank has.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/checks.h"
#include "passes/verify/launch_forms.h"
#include "passes/verify/places.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// The logical axis of what is looked up by position.
constexpr StringRef kPositions = "seq";

/// A number of a body, and what it has to be.
struct Demand {
  std::string what;
  IndexForm wanted, found;
};

/// One launch of a kernel of the tensor form.
class LaunchChecker : LaunchForms {
public:
  LaunchChecker(const Model &model, rt::LaunchOp launch, rt::KernelOp kernel)
      : LaunchForms(launch, kernel, model.mesh), model(model),
        places(model, forms) {}

  void check(Report &report) {
    settle([&] {
      demands.clear();
      collect();
    });
    std::set<std::string> said;
    for (const Demand &demand : demands)
      if (!(demand.found && demand.found == demand.wanted) &&
          said.insert(demand.what).second)
        report.error(launch)
            << "expected " << demand.what << " to be "
            << forms.textOf(demand.wanted) << ", as the sizes of the model and "
            << "of the rank's part say, found " << forms.textOf(demand.found);
  }

private:
  void collect() {
    KernelIndices indices = this->indices();
    for (Operation &op : kernel.getBody().front())
      TypeSwitch<Operation *>(&op)
          .Case([&](rt::RandomOp random) { demandWord(indices, random); })
          .Case([&](rt::GatherOp gather) {
            demandRow(gather.getOperand(), indices.of(gather.getRow()));
          })
          .Case([&](rt::ScatterAddOp scatter) {
            demandRow(scatter.getOperand(), indices.of(scatter.getRow()));
          })
          .Case([&](rt::StoreOp store) { demandPosition(indices, store); })
          .Case([&](arith::CmpIOp compare) { demandLogit(indices, compare); });
  }

  void demand(const Twine &what, IndexForm wanted, IndexForm found) {
    demands.push_back({what.str(), std::move(wanted), std::move(found)});
  }

  //===--- the elements of the kernel -------------------------------------===//

  /// The shape of the first operand with an element for each of the kernel's,
  /// of integers or of others; empty if there is none.
  ArrayRef<int64_t> elements(bool ofIntegers) {
    for (auto [buffer, info] : llvm::zip(buffers, kernel.getOperandsInfo())) {
      auto type = cast<ShapedType>(buffer.getType());
      if (cast<rt::OperandAttr>(info).getMode() == rt::Mode::Full &&
          type.getElementType().isInteger() == ofIntegers)
        return type.getShape();
    }
    return {};
  }

  //===--- what a body does with numbers ----------------------------------===//

  /// A word has the sample, and the element of the whole sample.
  void demandWord(const KernelIndices &indices, rt::RandomOp random) {
    demand("the seed of random words", forms.variable(rt::kSeed),
           indices.of(random.getSeed()));
    ArrayRef<int64_t> shape = elements(/*ofIntegers=*/false);
    IndexForm sample, element;
    if (shape.size() == 3) {
      SmallVector<IndexForm> at = indicesIn(shape, elementNumber());
      sample = places.sample(at[0], shape[0]);
      element = forms.add(forms.mul(places.position(at[1], shape[1]),
                                    model.config.getModel().getHidden()),
                          places.hidden(at[2], shape[2]));
    }
    demand("the sample of random words", sample,
           indices.of(random.getSample()));
    demand("the number of a random word in its sample", element,
           indices.of(random.getElement()));
  }

  /// A table that is a parameter has the rows of its rank.
  void demandRow(int64_t operand, const IndexForm &found) {
    pipe::ParameterOp table = parameterOf(operand);
    if (!table)
      return;
    IndexForm index = loadedIn(found);
    if (IndexForm position = countedFromStart(found);
        position && isOfPositions(table))
      demandOwnRow(table, position);
    else if (index)
      demand("the row of the table of \"" + table.getName() + "\"",
             rowOf(table, index), found);
    else if (isOfPositions(table) && !(found && loads(*found)))
      demandOwnRow(table, found);
  }

  /// An element of the kernel has the row of its own position: of the whole
  /// table the element, as a row of the kernel may be several of the table.
  void demandOwnRow(pipe::ParameterOp table, const IndexForm &found) {
    ArrayRef<int64_t> shape = elements(/*ofIntegers=*/false);
    int64_t width = table.getLocal().back();
    IndexForm wanted;
    if (shape.size() >= 2 && shape.back() == width) {
      SmallVector<IndexForm> at = indicesIn(shape, elementNumber());
      size_t dim = shape.size() - 2;
      IndexForm row = rowOf(table, places.position(at[dim], shape[dim]));
      wanted = forms.add(forms.mul(row, width), at.back());
    }
    demand("the element of the table of \"" + table.getName() + "\"", wanted,
           forms.add(forms.mul(found, kernel.getCols()),
                     forms.variable(kColIndex)));
  }

  IndexForm rowOf(pipe::ParameterOp table, const IndexForm &index) {
    dist::Split split = table.split();
    std::optional<MtcAxis> axis;
    if (split.axis && split.dim == 0)
      axis = splittingAxis(split.axis.getValue());
    return places.rowOf(index, table.getLocal().front(), axis);
  }

  static bool isOfPositions(pipe::ParameterOp table) {
    auto axis = cast<StringAttr>(table.getParam().getAxes()[0]);
    return axis.getValue() == kPositions;
  }

  /// The parameter that a table is, as stored or in another type, or whose
  /// gradient is summed there; null if it is of none.
  pipe::ParameterOp parameterOf(int64_t operand) {
    Value table = buffers[operand];
    if (auto cast = table.getDefiningOp<rt::LaunchOp>())
      if (cast.getInputs().size() == 1 &&
          shapeOf(cast.getInputs().front()) == shapeOf(table))
        table = cast.getInputs().front();
    if (auto param = table.getDefiningOp<pipe::ParamOp>())
      return parameterNamed(param.getName());
    if (pipe::ParameterOp found = accumulatedIn(table))
      return found;
    auto at = llvm::find(launch.getWrites(), operand);
    size_t result = at - launch.getWrites().begin();
    if (result < launch.getOutputs().size())
      for (Operation *user : launch.getOutputs()[result].getUsers())
        if (auto adds = dyn_cast<rt::LaunchOp>(user))
          if (pipe::ParameterOp found =
                  addedBy(adds, launch.getOutputs()[result]))
            return found;
    return {};
  }

  /// The parameter to whose gradient a launch adds `term`; it may add to
  /// several.
  pipe::ParameterOp addedBy(rt::LaunchOp adds, Value term) const {
    auto sums = SymbolTable::lookupNearestSymbolFrom<rt::KernelOp>(
        adds, adds.getKernelAttr());
    SmallVector<Value> operands = adds.getBuffers();
    int64_t from = llvm::find(operands, term) - operands.begin();
    if (!sums)
      return {};
    for (auto sum : sums.getBody().front().getOps<rt::AccumulateOp>())
      if (uint64_t(sum.getOperand()) < operands.size() &&
          isMadeOf(from, sum.getValue()))
        return accumulatedIn(operands[sum.getOperand()]);
    return {};
  }

  /// Whether `value` of a body is made of operand `from`.
  static bool isMadeOf(int64_t from, Value value) {
    SetVector<Operation *> made;
    BackwardSliceOptions options;
    options.inclusive = true;
    if (failed(getBackwardSlice(value, &made, options)))
      return false;
    return llvm::any_of(made, [&](Operation *op) {
      auto load = dyn_cast<rt::LoadOp>(op);
      return load && load.getOperand() == from;
    });
  }

  static ArrayRef<int64_t> shapeOf(Value buffer) {
    return llvm::cast<ShapedType>(buffer.getType()).getShape();
  }

  /// The parameter whose accumulator, or place among staged gradients, it is.
  pipe::ParameterOp accumulatedIn(Value value) const {
    auto ref = value.getDefiningOp<rt::RefOp>();
    return ref && ref.getParam() ? parameterNamed(*ref.getParam())
                                 : pipe::ParameterOp();
  }

  pipe::ParameterOp parameterNamed(StringRef name) const {
    auto it = model.parameters.find(name.str());
    pipe::ParameterOp found;
    if (it != model.parameters.end())
      found = it->second;
    return found && !found.getLocal().empty() ? found : pipe::ParameterOp();
  }

  /// An index that a kernel writes for others is a position of the sequence.
  void demandPosition(const KernelIndices &indices, rt::StoreOp store) {
    if (!store.getValue().getType().isInteger() ||
        store.getValue().getDefiningOp<rt::GatherOp>())
      return;
    IndexForm found = indices.of(store.getValue());
    if (IndexForm position = countedFromStart(found))
      found = position;
    auto type = cast<ShapedType>(buffers[store.getOperand()].getType());
    if ((found && loads(*found)) || type.getRank() == 0)
      return;
    auto info =
        cast<rt::OperandAttr>(kernel.getOperandsInfo()[store.getOperand()]);
    IndexForm number = info.getMode() == rt::Mode::Row
                           ? forms.variable(kRowIndex)
                           : elementNumber();
    IndexForm index = indicesIn(type.getShape(), number).back();
    demand("the position that an element is",
           places.position(index, type.getShape().back()), found);
  }

  /// A column that is compared with a label, or with the size of the
  /// vocabulary, is a logit.
  void demandLogit(const KernelIndices &indices, arith::CmpIOp compare) {
    IndexForm column = indices.of(compare.getLhs());
    IndexForm other = indices.of(compare.getRhs());
    if (column && loadedIn(column) == column)
      std::swap(column, other);
    if (!column || !other || !hasColumn(*column) ||
        !places.isPartOfLogits(kernel.getCols()))
      return;
    IndexForm logit = places.logit(forms.variable(kColIndex), kernel.getCols());
    if (loadedIn(other) == other)
      demand("the logit that a label is compared with", logit, column);
    else if (compare.getPredicate() == arith::CmpIPredicate::slt) {
      demand("the logit that may be of no token", logit, column);
      demand("the number of tokens",
             IndexForms::constant(model.config.getModel().getVocab()), other);
    }
  }

  static bool hasColumn(const Polynomial &form) {
    return llvm::any_of(form, [](const auto &term) {
      return llvm::any_of(term.first, [](const Digit &digit) {
        return digit.variable == kColIndex;
      });
    });
  }

  static bool isLoaded(const Digit &digit) {
    return digit.variable >= kFirstLoaded && digit.variable < kFirstQuotient;
  }
  static bool loads(const Polynomial &form) {
    return llvm::any_of(form, [](const auto &term) {
      return llvm::any_of(term.first, isLoaded);
    });
  }
  /// The number that is loaded, of a form with one of them; empty in others.
  static IndexForm loadedIn(const IndexForm &form) {
    IndexForm found;
    if (!form)
      return found;
    for (const auto &[digits, factor] : *form)
      if (llvm::any_of(digits, isLoaded)) {
        if (found || digits.size() != 1)
          return {};
        found = Polynomial{{digits, 1}};
      }
    return found;
  }

  /// The position, of a position in a document: less one number that is loaded,
  /// the start of the document. Empty if that is not what `form` is.
  static IndexForm countedFromStart(const IndexForm &form) {
    IndexForm start = loadedIn(form);
    if (!start)
      return {};
    IndexForm position = IndexForms::add(form, start);
    if (position && loads(*position))
      return {};
    return position;
  }

  const Model &model;
  Places places;
  std::vector<Demand> demands;
};

} // namespace

void checkKernelAddresses(const Model &model, Report &report) {
  forEachLaunch(model, report,
                [&](rt::LaunchOp launch, rt::KernelOp kernel, Report &found) {
                  LaunchChecker(model, launch, kernel).check(found);
                });
}

} // namespace mtc::passes::verify

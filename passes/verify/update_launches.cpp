//===- update_launches.cpp - sums of uses, and updates --------------------===//
#include "passes/verify/update_interpreter.h"

#include <fmt/format.h>

using namespace mlir;

namespace mtc::passes::verify {

std::optional<UpdateInterpreter::Operands>
UpdateInterpreter::operandsOf(const Touch &touch, rt::LaunchOp op) {
  Operands operands;
  if (op.getScalars().empty()) // reported where touches are read
    return std::nullopt;
  auto access = touch.accesses.begin();
  for (auto [i, buffer] : llvm::enumerate(op.getBuffers())) {
    if (buffer.getDefiningOp<rt::StepFieldOp>())
      continue;
    if (access == touch.accesses.end())
      return std::nullopt; // likewise
    std::optional<Slice> slice =
        slices.measured(touch, *access++, op.getScalars().back());
    if (!slice)
      return std::nullopt;
    operands[i] = *slice;
  }
  if (!operands.empty())
    checkEveryRank(touch, operands.begin()->second);
  return operands;
}

void UpdateInterpreter::launch(const Touch &touch, rt::LaunchOp op) {
  const FlatKernel *kernel = kernels.find(op.getKernel());
  if (!kernel) {
    report.error(op) << "expected a kernel over a flat range, which works on "
                        "each element alone, found \""
                     << op.getKernel() << "\"";
    return;
  }
  std::optional<Operands> operands = operandsOf(touch, op);
  if (!operands || kernel->operands.size() != op.getBuffers().size())
    return;
  bool updates = false;
  for (auto &[i, slice] : *operands) {
    const FlatKernel::Operand &operand = kernel->operands[i];
    bool adds = operand.added >= 0 && operands->count(operand.added);
    updates |= operand.storedFrom.has_value();
    if (adds && !operand.addsOther && !operand.storedFrom && !operand.loaded) {
      addUses(touch, slice, operands->at(operand.added));
      lastSum = {op, slice};
    } else if (operand.added >= 0 || operand.addsOther || operand.scalar)
      report.error(op) << "expected sums of two uses of a parameter, or "
                          "updates, found operand "
                       << i << " to be neither";
  }
  if (updates)
    update(touch, op, *kernel, *operands);
}

void UpdateInterpreter::update(const Touch &touch, rt::LaunchOp op,
                               const FlatKernel &kernel,
                               const Operands &operands) {
  const Slice &first = operands.begin()->second;
  for (auto &[i, slice] : operands)
    if (!slice.sameElements(first)) {
      report.error(op) << "expected an update of one bucket, found another "
                          "beside bucket "
                       << first.bucket;
      return;
    }
  auto isGradient = [&](int64_t operand) {
    auto found = operands.find(operand);
    return found != operands.end() && found->second.part == Part::Grad;
  };
  for (auto &[i, slice] : operands)
    if (kernel.operands[i].loaded)
      readForUpdate(touch, slice);
  for (auto &[i, slice] : operands)
    if (auto &from = kernel.operands[i].storedFrom)
      writeUpdated(touch, slice, llvm::any_of(*from, isGradient));
  checkRounded(touch, kernel, operands);
  checkFields(touch, op, first);
}

/// Of the states one has a meaning outside of the update: the runtime fills the
/// main parameters and saves them.
void UpdateInterpreter::checkRounded(const Touch &touch,
                                     const FlatKernel &kernel,
                                     const Operands &operands) {
  for (auto &[i, slice] : operands) {
    rt::BucketOp bucket = stage.bucket(slice.bucket);
    if (slice.part != Part::Param || !kernel.operands[i].storedFrom ||
        !bucket || !llvm::is_contained(bucket.stateNames(), "main"))
      continue;
    auto from = operands.find(kernel.operands[i].roundedFrom);
    if (from == operands.end() || from->second.state != "main")
      report.error(touch.op)
          << "expected the parameters of bucket " << slice.bucket
          << " to be their main parameters, rounded, found "
          << (from == operands.end() ? "another value"
                                     : "\"" + from->second.state.str() + "\"");
  }
}

void UpdateInterpreter::addUses(const Touch &touch, const Slice &into,
                                const Slice &from) {
  if (into.part != Part::Grad || from.part != Part::Grad) {
    report.error(touch.op) << "expected sums of gradients, found other bytes";
    return;
  }
  struct Piece {
    Slice slice;
    Named name;
    Copies copies;
  };
  std::vector<Piece> pieces;
  state.cells(from).forEach(
      from.begin, from.end, [&](int64_t begin, int64_t end, Copies &copies) {
        Slice piece = into;
        piece.begin = begin;
        piece.end = end;
        pieces.push_back(
            {piece, state.nameOf(from.bucket, begin, end), copies});
      });
  auto isReady = [&](const Cell &cell) {
    return cell.is(Cell::Kind::Gradient) && state.partialOver(cell).empty() &&
           !cell.stages && !cell.counted;
  };
  int64_t before = report.size();
  for (const Piece &piece : pieces) {
    if (report.size() != before)
      return; // the rest is likely wrong as well
    change(touch, piece.slice,
           "sums of two uses of a parameter that are summed over ranks, not "
           "over stages, and not in the norm yet",
           [&](const Element &element) -> std::string {
             Cell &cell = element.cell;
             const Cell &add = piece.copies.*element.copy;
             if (element.name != piece.name)
               return "of another parameter";
             if (!isReady(cell))
               return describe(state, cell);
             if (!isReady(add))
               return "added to " + describe(state, add);
             // In forward order, one at a time: sums add in one order.
             bool next = add.uses.size() == 1 &&
                         *cell.uses.rbegin() < *add.uses.begin();
             cell.uses.insert(add.uses.begin(), add.uses.end());
             return next ? "" : "added out of the order of uses";
           });
  }
}

void UpdateInterpreter::readForUpdate(const Touch &touch, const Slice &slice) {
  bool isGradient = slice.part == Part::Grad;
  change(touch, slice,
         isGradient ? "whole gradients for the update"
                    : "what was there before the step for the update",
         [&](const Element &element) -> std::string {
           const Cell &cell = element.cell;
           if (isGradient)
             return state.describeIncomplete(cell, element.param);
           return cell.is(Cell::Kind::Before) ? "" : describe(state, cell);
         });
}

void UpdateInterpreter::writeUpdated(const Touch &touch, const Slice &slice,
                                     bool byGradient) {
  change(touch, slice,
         "each element of each parameter, and of its states, updated once by "
         "its gradient",
         [&](const Element &element) -> std::string {
           Cell &cell = element.cell;
           bool isParam = slice.part == Part::Param;
           if (!element.param)
             return "padding";
           if (!isParam && slice.part != Part::State)
             return "overwritten gradients";
           if (!cell.is(Cell::Kind::Before))
             return describe(state, cell);
           cell.kind = Cell::Kind::Updated;
           return byGradient || !isParam ? "" : "updated without its gradient";
         });
}

/// Each rank has its own copy, or part, of what is updated.
void UpdateInterpreter::checkEveryRank(const Touch &touch, const Slice &slice) {
  for (const GroupInfo &group : kGroups)
    if (slice.range.isAmong(group.id))
      report.error(touch.op)
          << "expected every " << group.name << " rank to work on its part of "
          << nameOf(slice) << ", found a part of that on each";
}

/// A launch that reads the weight decay is of parameters that decay, and one
/// that reads what a group has of its own is of that group.
void UpdateInterpreter::checkFields(const Touch &touch, rt::LaunchOp op,
                                    const Slice &slice) {
  bool decays = false;
  std::set<int64_t> groups;
  for (Value value : op.getBuffers())
    if (auto field = value.getDefiningOp<rt::StepFieldOp>()) {
      decays |= field.getField() == STEP_WEIGHT_DECAY;
      if (kStepFields[field.getField()].isOfGroups())
        groups.insert(field.getGroup().value_or(0));
    }
  for (const Param &param : stage.params)
    if (pipe::ParameterOp of = param.of; param.bucket() == slice.bucket &&
                                         param.start() < slice.end &&
                                         slice.begin < param.end())
      checkFieldsOf(touch, param, of.getParam(), decays, groups);
}

void UpdateInterpreter::checkFieldsOf(const Touch &touch, const Param &param,
                                      tfm::ParamAttr of, bool decays,
                                      const std::set<int64_t> &groups) {
  if (of.getDecay() != decays)
    report.error(touch.op) << "expected \"" << param.name()
                           << "\" to be updated "
                           << (decays ? "without" : "with")
                           << " weight decay, as its pipe.parameter says, "
                              "found otherwise";
  std::optional<int64_t> own =
      model.config.getOptimizer().groupIndex(of.getGroup());
  if (!own)
    report.error(touch.op) << "expected a group of mtc.config, found "
                           << of.getGroup() << " of \"" << param.name() << "\"";
  for (int64_t group : groups)
    if (own && group != *own)
      report.error(touch.op)
          << "expected \"" << param.name() << "\" to be updated with values of "
          << "group " << *own << " of the step block, found those of group "
          << group;
}

} // namespace mtc::passes::verify

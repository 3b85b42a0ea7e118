//===- same_values.cpp - bytes compute what tensors mean ------------------===//
//
// plan-memory leaves a program's fragments on tensors beside those on bytes.
// Both are run on numbers, once for all microbatches and ranks; what a fragment
// leaves must be the same. That a slot holds the values of its microbatch, and
// that what is received is what was sent, checkValues and checkMachine prove.
//
//===----------------------------------------------------------------------===//
#include "passes/PhasePass.h"
#include "passes/verify/checks.h"
#include "passes/verify/forms.h"

#include "dialects/dist/Dist.h"

#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

class ValueChecker {
public:
  ValueChecker(const Model &model, const Stage &stage, rt::TensorFormOp form,
               Report &report)
      : model(model), stage(stage), form(form), report(report),
        lasting(stage, numbers), kernels(stage.op.getBody().front(), numbers),
        meant(form.getBody().front(), numbers) {}

  void check() {
    for (auto &[entry, timeline] : stage.timelines)
      run(entry, timeline);
  }

private:
  /// Fragments in the order in which a microbatch meets them.
  void run(StringRef entry, const Timeline &timeline) {
    ByteForm bytes(kernels, lasting, numbers);
    TensorForm tensors(meant, lasting, numbers, report);
    bytes.load(model, stage, entry);
    std::set<const Fragment *> seen;
    for (const Row &row : timeline.rows)
      if (row.fragment && seen.insert(row.fragment).second)
        run(*row.fragment, bytes, tensors);
  }

  void run(const Fragment &fragment, ByteForm &bytes, TensorForm &tensors) {
    func::FuncOp other = meantBy(fragment);
    if (!other) {
      report.error(fragment.fn) << "expected a fragment of " << fragment.of
                                << " in the tensor form, found none";
      return;
    }
    bytes.run(fragment.fn);
    tensors.run(other);
    compareLasting(fragment, tensors.after(), bytes.after());
    std::set<CrossingName> sent;
    std::set<StringRef> exported;
    for (const Left &left : tensors.takeLeft())
      if (auto send = dyn_cast<pipe::SendOp>(left.op)) {
        compareSend(fragment, bytes, send, left.number);
        sent.insert(send.getName());
      } else if (auto keep = dyn_cast<pipe::SaveOp>(left.op)) {
        findKept(fragment, bytes, keep, left.number);
      } else {
        auto exportOp = cast<pipe::ExportOp>(left.op);
        compareExport(fragment, bytes, exportOp, left.number);
        exported.insert(exportOp.getName());
      }
    expectNoMore(fragment, bytes, sent, exported);
    if (fragment.isOfOne())
      comparePlain(fragment, tensors);
  }

  /// The fragment in the tensor form; null if there is none.
  func::FuncOp meantBy(const Fragment &fragment) {
    for (auto fn : form.getOps<func::FuncOp>())
      if (pipe::FragmentAttr::of(fn) == fragment.of)
        return fn;
    return {};
  }

  /// Bytes send and export nothing that the tensor form does not.
  void expectNoMore(const Fragment &fragment, ByteForm &bytes,
                    const std::set<CrossingName> &sent,
                    const std::set<StringRef> &exported) {
    for (auto &[space, cells] : bytes.after().all()) {
      if (space.kind != SpaceKind::Pool)
        continue;
      auto pool = static_cast<MtcPool>(space.index);
      std::optional<CrossingEnd> end = crossingEnd(pool);
      if (!end || !end->sends || sent.count(end->name))
        continue;
      for (auto &[begin, cell] : cells)
        if (cell.writer && cell.writer->getParentOp() == fragment.fn)
          report.error(cell.writer)
              << "expected a pipe.send in the tensor form of \""
              << fragment.name() << "\", whose bytes leave a value in pool "
              << poolName(pool) << ", found none";
    }
    for (auto slot : stage.op.getOps<rt::ExportSlotOp>())
      if (slot.getFragment() == fragment.name() &&
          !exported.count(slot.getName()))
        report.error(slot) << "expected a pipe.export \"" << slot.getName()
                           << "\" in the tensor form of \"" << fragment.name()
                           << "\", found none";
  }

  /// Somewhere in its slot: what reads it later must find it there.
  void findKept(const Fragment &fragment, ByteForm &bytes, pipe::SaveOp keep,
                Number expected) {
    for (const PoolInfo &pool : kPools)
      if (isKept(pool.id) &&
          llvm::any_of(bytes.slotOf(pool.id), [&](const auto &cell) {
            return cell.second.number == expected;
          }))
        return;
    auto diag = report.error(fragment.fn)
                << "expected \"" << fragment.name()
                << "\" to leave in a slot what its tensor form saves as "
                << keep.getKey() << ", found it nowhere there";
    diag.attachNote(keep.getLoc()) << "saved here";
  }

  void compareLasting(const Fragment &fragment, const Contents &expected,
                      const Contents &found,
                      StringRef like = "its tensor form") {
    for (const Contents *contents : {&found, &expected})
      for (auto &[space, cells] : contents->all())
        for (auto &[begin, cell] : cells) {
          if (!space.isLasting())
            break;
          Placement placement{space, begin, cell.end};
          compare(fragment, fragment.fn, lasting.describe(placement, numbers),
                  expected.read(placement, numbers),
                  found.read(placement, numbers), like);
        }
  }

  /// The first microbatch's form of a forward does what others run, and gathers
  /// parameters; the last one's of a backward, and sums gradients over ranks.
  void comparePlain(const Fragment &form, TensorForm &tensors) {
    const Fragment *plain = stage.plainOf(form);
    func::FuncOp other = plain ? meantBy(*plain) : func::FuncOp();
    if (!other)
      return; // reported by checkTimelines, or where it runs
    tensors.runWithoutSums(other);
    Contents expected = tensors.after();
    std::vector<Left> expectedLeft = tensors.takeLeft();
    tensors.runWithoutSums(meantBy(form));
    std::string like = ("\"" + plain->name() + "\"").str();
    compareLasting(form, expected, tensors.after(), like);
    bool isSame = llvm::equal(
        expectedLeft, tensors.takeLeft(), [](const Left &a, const Left &b) {
          return a.op->getName() == b.op->getName() && a.number == b.number &&
                 a.op->getAttrDictionary() == b.op->getAttrDictionary();
        });
    if (!isSame)
      report.error(form.fn)
          << "expected \"" << form.name() << "\" to send, save and export what "
          << like << " does, found other values";
  }

  /// A transfer sends what checkValues found whole in the pool.
  void compareSend(const Fragment &fragment, ByteForm &bytes, pipe::SendOp send,
                   Number expected) {
    MtcPool pool = sendPool(send.getName());
    const Contents::Cells &sent = bytes.slotOf(pool);
    if (sent.size() != 1)
      report.error(fragment.fn)
          << "expected one value in pool " << poolName(pool) << ", which \""
          << fragment.name() << "\" sends, found " << sent.size();
    else
      compare(fragment, fragment.fn,
              "the " + send.getName().text() + " that is sent", expected,
              sent.begin()->second.number);
  }

  void compareExport(const Fragment &fragment, ByteForm &bytes,
                     pipe::ExportOp meant, Number expected) {
    SmallVector<rt::ExportSlotOp> slots;
    for (auto op : stage.op.getOps<rt::ExportSlotOp>())
      if (op.getFragment() == fragment.name() &&
          op.getName() == meant.getName())
        slots.push_back(op);
    if (slots.size() != 1) {
      report.error(fragment.fn)
          << "expected one slot of the export \"" << meant.getName()
          << "\" of the tensor form, found " << slots.size();
      return;
    }
    rt::ExportSlotOp slot = slots.front();
    Placement placement = bytes.at(slot.getArena(), {}, slot.getOffset(),
                                   rt::bytesOf(slot.getType()));
    compare(fragment, slot, ("the export \"" + meant.getName() + "\"").str(),
            expected, bytes.read(placement));
    compareShape(slot, meant);
  }

  /// What a dump makes of an export: the tensor that it is a shard of.
  void compareShape(rt::ExportSlotOp slot, pipe::ExportOp meant) {
    Type type = meant.getValue().getType();
    if (slot.getType() != type ||
        slot.getSharding() !=
            meant->getAttrOfType<dist::ShardingAttr>(dist::shardingAttrName))
      report.error(slot) << "expected type and sharding of the export \""
                         << meant.getName() << "\" of the tensor form, " << type
                         << " a rank, found others";
  }

  /// Reports each pair of values that differ once: others follow from it.
  void compare(const Fragment &fragment, Operation *where, StringRef what,
               Number expected, Number found,
               StringRef like = "its tensor form") {
    if (expected == found)
      return;
    Numbers::Difference first = numbers.firstDifference(expected, found);
    if (!reported.insert({first.expected, first.found}).second)
      return;
    auto diag = report.error(where);
    diag << "expected \"" << fragment.name() << "\" to leave in " << what
         << " what " << like << " does, found " << numbers.describe(first.found)
         << " in place of " << numbers.describe(first.expected);
    if (Operation *maker = numbers.makerOf(first.found))
      diag.attachNote(maker->getLoc()) << "found";
    else if (first.user)
      diag.attachNote(first.user->getLoc()) << "found in an operand of this op";
    if (Operation *maker = numbers.makerOf(first.expected))
      diag.attachNote(maker->getLoc()) << "expected";
  }

  const Model &model;
  const Stage &stage;
  mutable rt::TensorFormOp form;
  Report &report;
  Numbers numbers;
  Lasting lasting;
  Kernels kernels, meant;
  std::set<std::pair<Number, Number>> reported;
};

/// Attributes but for the offsets that plan-memory sets.
DictionaryAttr withoutOffsets(Operation *op) {
  NamedAttrList kept;
  for (NamedAttribute each : op->getAttrDictionary())
    if (!each.getName().getValue().contains("_offset"))
      kept.append(each);
  return kept.getDictionary(op->getContext());
}

/// What a table says beside offsets is what it said before.
template <typename Op>
void compareTable(rt::ProgramOp program, rt::TensorFormOp form,
                  Report &report) {
  auto found = llvm::to_vector(program.getOps<Op>());
  auto expected = llvm::to_vector(form.getOps<Op>());
  if (found.size() != expected.size())
    report.error(program) << "expected " << expected.size() << " "
                          << Op::getOperationName()
                          << ", as the tensor form has, found " << found.size();
  for (auto [op, other] : llvm::zip(found, expected)) {
    if (withoutOffsets(op) == withoutOffsets(other))
      continue;
    auto diag = report.error(op)
                << "expected what the tensor form says of it, found otherwise";
    diag.attachNote(other.getLoc()) << "in the tensor form";
  }
}

/// Every rank has of a parameter what its record says: fragments read it so.
void checkRecords(const Model &model, rt::TensorFormOp form, Report &report) {
  form.walk([&](pipe::ParamOp param) {
    auto it = model.parameters.find(param.getName().str());
    if (it == model.parameters.end())
      return; // reported by TensorForm
    pipe::ParameterOp record = it->second;
    auto global = dist::globalShapeOf(param);
    dist::Split found =
        dist::splitOf(dist::shardingOf(param), dist::meshOf(form),
                      record.getLocal(), /*first=*/0);
    dist::Split expected = record.split();
    if (param.getType() == record.getType() && found.dim == expected.dim &&
        found.axis == expected.axis && global &&
        global.asArrayRef() == ArrayRef<int64_t>(expected.shape))
      return;
    auto diag = report.error(record)
                << "expected the type, sharding and global shape with which "
                   "fragments read \""
                << param.getName() << "\", found others";
    diag.attachNote(param.getLoc()) << "read here";
  });
}

void checkStage(const Model &model, const Stage &stage, Report &report) {
  auto forms = llvm::to_vector(stage.op.getOps<rt::TensorFormOp>());
  // A plan that names no phase was written by hand, and means what it says.
  if (forms.empty() && !model.module->hasAttr(phaseAttr))
    return;
  if (forms.size() != 1) {
    report.error(stage.op) << "expected one rt.tensor_form (written by "
                              "plan-memory), found "
                           << forms.size();
    return;
  }
  checkRecords(model, forms.front(), report);
  compareTable<rt::ParamOp>(stage.op, forms.front(), report);
  compareTable<rt::BucketOp>(stage.op, forms.front(), report);
  ValueChecker(model, stage, forms.front(), report).check();
}

} // namespace

void checkSameValues(const Model &model, Report &report) {
  forEachStage(model, report, [&](const Stage &stage, Report &found) {
    checkStage(model, stage, found);
  });
}

} // namespace mtc::passes::verify

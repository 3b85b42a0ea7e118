//===- packed.cpp - weights that are packed for products ------------------===//
#include "passes/target/target.h"
#include "passes/verify/checks.h"

#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// What a fragment does with packed weights, in its order.
struct Event {
  Operation *op = nullptr;
  rt::PackedOp of; ///< null: bytes of no rt.packed, which was said
};

bool isInArena(const Access &access) {
  return access.extent.arena == MTC_ARENA_PACKED;
}

class PackedChecker {
public:
  PackedChecker(const target::Target &target, const Stage &stage,
                Report &report)
      : target(target), stage(stage), report(report) {}

  void check() {
    checkTable();
    for (const Fragment &fragment : stage.fragments)
      for (const Touch &touch : fragment.touches)
        visit(fragment, touch);
    for (auto &[entry, timeline] : stage.timelines)
      follow(entry, timeline);
    for (rt::PackedOp packed : stage.packed)
      if (!isRead.count(packed.getIndex()))
        report.error(packed) << "expected a product that reads "
                             << nameOf(packed) << ", found none";
  }

private:
  static std::string nameOf(rt::PackedOp packed) {
    return "rt.packed " + std::to_string(packed.getIndex()) + " (\"" +
           packed.getParam().str() + "\")";
  }

  void checkTable() {
    std::set<int64_t> numbers;
    int64_t end = 0;
    for (rt::PackedOp packed : stage.packed) {
      if (!numbers.insert(packed.getIndex()).second)
        report.error(packed) << "expected one rt.packed of each number, found "
                             << packed.getIndex() << " again";
      checkBytes(packed);
      int64_t begin = *packed.getOffset();
      if (begin < end || begin % 64 != 0)
        report.error(packed)
            << "expected bytes of its own in the arena packed, from " << end
            << " or later and a multiple of 64, found " << begin;
      end = std::max(end, saturatingAdd(begin, packed.getBytes()));
    }
    if (end > stage.arenas[MTC_ARENA_PACKED])
      report.error(stage.op)
          << "expected an arena packed of at least " << end << " bytes, found "
          << stage.arenas[MTC_ARENA_PACKED];
  }

  void checkBytes(rt::PackedOp packed) {
    const Param *param = paramOf(packed);
    if (!param || packed.getType() != param->of.elementType() ||
        saturatingMul(packed.getN(), packed.getK()) != param->elements()) {
      report.error(packed) << "expected a parameter of stage " << stage.index
                           << " that has " << packed.getK() << " x "
                           << packed.getN() << " elements of type "
                           << packed.getType() << ", found \""
                           << packed.getParam() << "\"";
      return;
    }
    int64_t needed =
        target.packedBytes(packed.getN(), packed.getK(), packed.getType());
    if (needed < 0)
      report.error(packed) << "expected no packed weights on a device whose "
                              "products read weights as they are, found "
                           << nameOf(packed);
    else if (int64_t(packed.getBytes()) != needed)
      report.error(packed) << "expected the " << needed
                           << " bytes that the device's kernel makes of it, "
                              "found "
                           << packed.getBytes();
  }

  /// The parameter itself, not only an accumulator.
  const Param *paramOf(rt::PackedOp packed) const {
    for (const Param &param : stage.params)
      if (param.name() == packed.getParam() && stage.valuesOf(param))
        return &param;
    return nullptr;
  }

  void visit(const Fragment &fragment, const Touch &touch) {
    auto product = dyn_cast<rt::GemmOp>(touch.op);
    auto pack = dyn_cast<rt::PackOp>(touch.op);
    for (const Access &access : touch.accesses) {
      bool isB = product && product.readsPacked() &&
                 access.view == product.getB().getDefiningOp();
      bool isMeant = isB || (pack && access.writes);
      if (isMeant != isInArena(access)) {
        report.error(touch.op)
            << (isMeant ? "expected bytes of the arena packed, found others"
                        : "expected only rt.pack and products by own_packed to "
                          "touch the arena packed, found another");
      } else if (isMeant) {
        rt::PackedOp packed = packedAt(touch.op, access);
        events[&fragment].push_back({touch.op, packed});
        if (pack)
          checkPack(fragment, touch, pack, packed);
        else
          checkProduct(product, packed);
      }
    }
  }

  /// Of an rt.pack or a product, as rt.packed says it.
  template <typename Op> static std::string readingOf(Op op, Type element) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "n " << op.getN() << " k " << op.getK()
        << (op.getTb() ? " transposed" : "") << " of " << element;
    return text;
  }

  static Type elementOf(Value buffer) {
    return cast<ShapedType>(buffer.getType()).getElementType();
  }

  template <typename Op>
  void expectReading(Op op, Type element, rt::PackedOp packed) {
    std::string wanted = readingOf(packed, packed.getType()),
                found = readingOf(op, element);
    if (wanted != found)
      report.error(op) << "expected " << wanted << ", as " << nameOf(packed)
                       << " is, found " << found;
  }

  /// The one whose bytes an access has.
  rt::PackedOp packedAt(Operation *op, const Access &access) {
    for (rt::PackedOp packed : stage.packed)
      if (!access.moved &&
          access.extent.offset == int64_t(*packed.getOffset()) &&
          access.extent.bytes == int64_t(packed.getBytes()))
        return packed;
    report.error(op) << "expected all bytes of an rt.packed, found "
                     << access.extent.bytes << " bytes at "
                     << access.extent.offset << " of the arena packed";
    return {};
  }

  /// `packed` is null where its bytes are of none, which was said.
  void checkPack(const Fragment &fragment, const Touch &touch, rt::PackOp op,
                 rt::PackedOp packed) {
    if (fragment.phase() != Phase::Forward)
      report.error(op) << "expected weights to be packed in a forward, found \""
                       << fragment.name() << "\"";
    const Param *param = packed ? paramOf(packed) : nullptr;
    if (!param)
      return; // which was said
    expectReading(op, elementOf(op.getB()), packed);
    const Access &from = touch.accesses.front();
    if (from.moved || !from.extent.sameBytes(*stage.valuesOf(*param)))
      report.error(op) << "expected to pack the parameter of " << nameOf(packed)
                       << ", found bytes " << from.extent.offset << " to "
                       << from.extent.end() << " of the arena "
                       << kArenas[from.extent.arena].name;
  }

  void checkProduct(rt::GemmOp product, rt::PackedOp packed) {
    if (!packed)
      return; // which was said
    expectReading(product, elementOf(product.getA()), packed);
    isRead.insert(packed.getIndex());
  }

  /// Once a step, by the microbatch that runs first, in front of all readers.
  void follow(StringRef entry, const Timeline &timeline) {
    std::set<int64_t> made;
    for (const Row &row : timeline.rows) {
      auto it = events.find(row.fragment);
      if (!row.fragment || it == events.end())
        continue;
      for (Event &event : it->second) {
        if (!event.of)
          continue;
        bool packs = isa<rt::PackOp>(event.op);
        bool isNew = packs ? made.insert(event.of.getIndex()).second
                           : !made.count(event.of.getIndex());
        if (packs != isNew && reported.insert(event.op).second)
          report.error(event.op)
              << "expected \"" << entry << "\" to pack " << nameOf(event.of)
              << (packs ? " once in a step, found it packed again by \""
                        : " before it is read, found no rt.pack in front of \"")
              << row.fragment->name() << "\" of microbatch " << row.microbatch;
      }
    }
  }

  const target::Target &target;
  const Stage &stage;
  Report &report;
  std::map<const Fragment *, std::vector<Event>> events; ///< looked up only
  std::set<Operation *> reported;                        ///< looked up only
  std::set<int64_t> isRead;                              ///< by some product
};

} // namespace

void checkPacked(const Model &model, Report &report) {
  FailureOr<target::Target> target = target::Target::of(model.module);
  if (failed(target))
    return report.addFailure();
  forEachStage(model, report, [&](const Stage &stage, Report &found) {
    PackedChecker(*target, stage, found).check();
  });
}

} // namespace mtc::passes::verify

//===- fragment_values.cpp - values inside one fragment -------------------===//
//
// The allocator worked on lifetimes of tensors. This check does not look at
// tensors: it follows the bytes.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/fragment_values.h"

#include "passes/verify/byte_map.h"
#include "passes/verify/checks.h"

#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

class FragmentWalker {
public:
  FragmentWalker(const Fragment &fragment, Report &report)
      : fragment(fragment), report(report) {}

  SlotSummary walk(ArrayRef<SlotUse> exports) {
    for (const Touch &touch : fragment.touches) {
      checkApart(touch);
      checkUnread(touch);
      for (const Access &access : touch.accesses)
        if (tracked(access) && access.reads)
          read(touch.op, access.extent, access.type);
      for (const Access &access : touch.accesses)
        if (tracked(access) && access.writes)
          write(touch.op, access);
    }
    for (const SlotUse &use : exports)
      read(use.op, use.extent, Type());
    checkCollectivesRead();
    for (auto [index, value] : llvm::enumerate(values)) {
      const Extent &e = value.extent;
      if (e.arena == MTC_ARENA_ACTIVATIONS &&
          spaces[e.pool].read(e.offset, e.end()).value == int64_t(index))
        summary.writes.push_back({e, value.op});
    }
    return std::move(summary);
  }

private:
  struct Value {
    Extent extent;
    Type type;
    Operation *op = nullptr;
    bool scratch = false;
    Operation *reader = nullptr; ///< the first; null: nobody so far
  };

  static bool tracked(const Access &access) {
    return access.extent.arena == MTC_ARENA_WORKSPACE ||
           access.extent.arena == MTC_ARENA_ACTIVATIONS;
  }

  /// A collective works in place: what was read before it is not what it makes,
  /// and all members of its group need the same.
  void checkUnread(const Touch &touch) {
    if (!isa<rt::CollectiveOp>(touch.op) || touch.accesses.empty() ||
        !tracked(touch.accesses[0]))
      return;
    const Extent &e = touch.accesses[0].extent;
    ByteMap::Content content = spaces[e.pool].read(e.offset, e.end());
    Operation *reader =
        content.value >= 0 ? values[content.value].reader : readerOf(e);
    if (!reader)
      return;
    auto diag = report.error(touch.op)
                << "expected nobody to read the operand of a collective before "
                   "it, found "
                << text(e) << " read";
    diag.attachNote(reader->getLoc()) << "read here";
  }

  /// Who read a value that lies in `e`, or what an earlier fragment left there;
  /// null: nobody.
  Operation *readerOf(const Extent &e) {
    Operation *reader = readBefore(e);
    spaces[e.pool].forEach(e.offset, e.end(),
                           [&](int64_t, int64_t, int64_t index) {
                             if (!reader && !isa<rt::ZeroOp>(values[index].op))
                               reader = values[index].reader;
                           });
    return reader;
  }

  /// Who read bytes of `e` that an earlier fragment left there; null: nobody.
  Operation *readBefore(const Extent &e) const {
    for (const SlotUse &use : summary.reads)
      if (use.extent.overlaps(e))
        return use.op;
    return nullptr;
  }

  /// What a collective made is for somebody: a reader in the fragment, or one
  /// of the slot in which it is left.
  void checkCollectivesRead() {
    for (auto [index, value] : llvm::enumerate(values)) {
      const Extent &e = value.extent;
      bool isLeft =
          e.arena == MTC_ARENA_ACTIVATIONS &&
          spaces[e.pool].read(e.offset, e.end()).value == int64_t(index);
      if (isa<rt::CollectiveOp>(value.op) && !value.reader && !isLeft)
        report.error(value.op) << "expected a reader of what the collective "
                                  "makes, found none in \""
                               << fragment.name() << "\"";
    }
  }

  /// Operands of one op do not alias: a kernel may make several passes over its
  /// elements.
  void checkApart(const Touch &touch) {
    ArrayRef<Access> all = touch.accesses;
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = i + 1; j < all.size(); ++j) {
        const Access &a = all[i], &b = all[j];
        if ((a.writes || b.writes) && a.extent.overlaps(b.extent))
          report.error(touch.op)
              << "expected operands that share no bytes where one is written, "
                 "found operands "
              << i << " (" << text(a.extent) << ") and " << j << " ("
              << text(b.extent) << ")";
      }
  }

  static std::string text(const Extent &e) {
    std::string out = "bytes " + std::to_string(e.offset) + " to " +
                      std::to_string(e.end()) + " of the arena " +
                      std::string(kArenas[e.arena].name);
    if (e.pool)
      out.append(", pool ").append(poolName(*e.pool));
    return out;
  }

  /// Whether whole values lie side by side in `e`, with zeros between them:
  /// what works on each element alone, as a collective, may read them together.
  bool holdsWholeValues(const Extent &e) {
    int64_t at = e.offset;
    bool areWhole = true;
    spaces[e.pool].forEach(e.offset, e.end(),
                           [&](int64_t begin, int64_t end, int64_t index) {
                             const Value &value = values[index];
                             bool isWhole = value.extent.offset == begin &&
                                            value.extent.end() == end;
                             areWhole &= begin == at && !value.scratch &&
                                         (isWhole || isa<rt::ZeroOp>(value.op));
                             at = end;
                           });
    return areWhole && at == e.end();
  }

  /// Whether values may be read together, or a part of one: of zeros any part
  /// is zeros.
  bool isReadInParts(Operation *op, const Extent &e,
                     const ByteMap::Content &content) {
    return isa<rt::CollectiveOp>(op)
               ? holdsWholeValues(e)
               : content.value >= 0 &&
                     isa<rt::ZeroOp>(values[content.value].op);
  }

  void read(Operation *op, const Extent &e, Type type) {
    ByteMap::Content content = spaces[e.pool].read(e.offset, e.end());
    if (e.arena == MTC_ARENA_ACTIVATIONS &&
        content.other < 0) { // from before this fragment
      if (wanted.insert({e.pool, e.offset, e.bytes}).second)
        summary.reads.push_back({e, op});
      return;
    }
    if (content.value >= 0) {
      Value &value = values[content.value];
      bool same = value.extent.sameBytes(e) && (!type || value.type == type) &&
                  !value.scratch;
      if (same) {
        if (!value.reader)
          value.reader = op;
        return;
      }
    }
    if (isReadInParts(op, e, content))
      return;
    auto diag = report.error(op);
    diag << "expected " << text(e) << " to hold one value";
    if (type)
      diag << " of type " << type;
    if (content.other < 0) {
      diag << ", found bytes that nothing in \"" << fragment.name()
           << "\" wrote before";
      return;
    }
    const Value &other = values[content.other];
    diag << ", found " << (other.scratch ? "scratch" : "another value")
         << " over " << text(other.extent)
         << (content.gap ? ", and bytes never written" : "");
    diag.attachNote(other.op->getLoc()) << "written here";
  }

  void write(Operation *op, const Access &access) {
    const Extent &e = access.extent;
    spaces[e.pool].write(e.offset, e.end(), values.size());
    values.push_back({e, access.type, op, access.scratch, nullptr});
  }

  const Fragment &fragment;
  Report &report;
  /// By pool; without one, the workspace.
  std::map<std::optional<MtcPool>, ByteMap> spaces;
  std::vector<Value> values;
  std::set<std::tuple<std::optional<MtcPool>, int64_t, int64_t>> wanted;
  SlotSummary summary;
};

} // namespace

SlotSummary walkFragment(const Fragment &fragment, ArrayRef<SlotUse> exports,
                         Report &report) {
  return FragmentWalker(fragment, report).walk(exports);
}

} // namespace mtc::passes::verify

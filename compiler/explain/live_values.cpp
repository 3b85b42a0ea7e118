//===- live_values.cpp - values of a fragment and when they live ----------===//

#include "compiler/explain/live_values.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Path.h"

#include <set>

#include <fmt/format.h>

namespace mtc::compiler {
namespace {

void collectParts(mlir::Location location,
                  llvm::SmallSetVector<mlir::StringAttr, 4> &parts) {
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location))
    parts.insert(named.getName());
  else if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location))
    for (mlir::Location part : fused.getLocations())
      collectParts(part, parts);
}

/// A launch says what its kernel was made of; other calls are their op.
std::string makerOf(mlir::Operation *op) {
  if (auto from = op->getAttrOfType<mlir::StringAttr>("from"))
    return from.getValue().str();
  return op->getName().stripDialect().str();
}

class Lives {
public:
  explicit Lives(FragmentValues &out) : out(out) {}

  void call(rt::AccessOpInterface op) {
    for (const rt::Access &access : op.getAccesses()) {
      rt::ViewOp view = viewOf(access.value);
      if (!view)
        continue;
      int64_t bytes = rt::bytesOf(access.value.getType());
      if (view.getPool())
        keep(view, bytes, op);
      else if (view.getArena() == MTC_ARENA_WORKSPACE)
        use(view.getOffset(), bytes, access.kind, op);
    }
    ++out.calls;
  }

  void findPeak() {
    std::vector<int64_t> change(out.calls + 1);
    for (const LiveValue &value : out.values) {
      change[value.begin] += value.bytes;
      change[value.end + 1] -= value.bytes;
    }
    int64_t live = 0;
    for (int64_t call = 0; call < out.calls; ++call)
      if (live += change[call]; live > out.peakBytes) {
        out.peakBytes = live;
        out.peakCall = call;
      }
  }

private:
  void keep(rt::ViewOp view, int64_t bytes, mlir::Operation *op) {
    auto offset = static_cast<int64_t>(view.getOffset());
    if (seen.insert({*view.getPool(), offset, bytes}).second)
      out.kept.push_back(
          {*view.getPool(), offset, bytes, partOf(op->getLoc())});
  }

  /// What is written and not read begins a value, unless it is a part of one
  /// that is there; that one may be filled piece by piece, until it is read;
  /// scratch is not filled.
  void use(int64_t offset, int64_t bytes, rt::AccessKind kind,
           mlir::Operation *op) {
    bool begins = kind.writes && !kind.reads;
    llvm::erase_if(there, [&](size_t index) {
      LiveValue &value = out.values[index];
      bool overlaps =
          value.offset < offset + bytes && offset < value.offset + value.bytes;
      if (!overlaps)
        return false;
      bool isPart = bytes < value.bytes && offset >= value.offset &&
                    offset + bytes <= value.offset + value.bytes;
      if (begins && (!isPart || kind.scratch || complete.contains(index)))
        return true;
      if (kind.reads)
        complete.insert(index);
      value.end = out.calls;
      begins = false;
      return false;
    });
    if (!begins)
      return;
    there.push_back(out.values.size());
    if (kind.scratch)
      complete.insert(out.values.size());
    out.values.push_back(
        {offset, bytes, out.calls, out.calls, partOf(op->getLoc()),
         kind.scratch ? makerOf(op) + " scratch" : makerOf(op)});
  }

  FragmentValues &out;
  std::vector<size_t> there; ///< of `values`, not yet overwritten
  std::set<size_t> complete; ///< of `values`: nothing more is put there
  std::set<std::tuple<int, int64_t, int64_t>> seen;
};

} // namespace

std::string partOf(mlir::Location location) {
  llvm::SmallSetVector<mlir::StringAttr, 4> parts;
  collectParts(location, parts);
  if (parts.empty())
    return "";
  std::string first = parts.front().getValue().str();
  return parts.size() == 1
             ? first
             : fmt::format("{} and {} more", first, parts.size() - 1);
}

std::string specLineOf(mlir::Location location) {
  std::string line;
  location->walk([&](mlir::Location inner) {
    auto place = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
    if (!place)
      return mlir::WalkResult::advance();
    line = fmt::format("{}:{}",
                       llvm::sys::path::filename(place.getFilename()).str(),
                       place.getLine());
    return mlir::WalkResult::interrupt();
  });
  return line;
}

rt::ViewOp viewOf(mlir::Value buffer) {
  while (auto moved = buffer.getDefiningOp<rt::OffsetViewOp>())
    buffer = moved.getView();
  return buffer.getDefiningOp<rt::ViewOp>();
}

FragmentValues valuesOf(mlir::func::FuncOp fragment) {
  FragmentValues result;
  Lives lives(result);
  for (mlir::Operation &op : fragment.getBody().front())
    if (auto call = mlir::dyn_cast<rt::AccessOpInterface>(op))
      lives.call(call);
  lives.findPeak();
  return result;
}

} // namespace mtc::compiler

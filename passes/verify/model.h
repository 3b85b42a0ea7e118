//===- model.h - a planned module, read for checking ------------*- C++ -*-===//
//
// What verify-plan looks at: stages, fragments with the bytes that each op
// touches, rows of timelines. Read from the IR alone, with nothing of
// the passes that wrote it, so that a mistake of theirs cannot hide here.
//
// Ops are mutable members because they are handles whose accessors are not
// const; nothing is changed through them.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_VERIFY_MODEL_H
#define MTC_PASSES_VERIFY_MODEL_H

#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "mtc/runtime/memory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mtc::passes::verify {

struct Row;

/// What a finding is at: an op, or a row of a timeline, which is none.
class Site {
public:
  Site(mlir::Operation *op) : op(op) {}
  Site(const Row &row) : row(&row) {}
  mlir::Location getLoc() const;
  /// Such as rt.step.
  llvm::StringRef getName() const;
  auto operator<=>(const Site &) const = default;

private:
  mlir::Operation *op = nullptr;
  const Row *row = nullptr;
};

/// Emits findings and remembers that there were some.
class Report {
public:
  /// A finding at `op`; the caller streams what was expected and found.
  mlir::InFlightDiagnostic error(mlir::Operation *op);
  mlir::InFlightDiagnostic error(const Site &site);
  /// Counts findings that somebody else has emitted.
  void addFailures(int64_t number) { count += number; }
  void addFailure() { addFailures(1); }
  bool clean() const { return count == 0; }
  int64_t size() const { return count; }

private:
  int64_t count = 0;
};

/// a + b and a · b, or the largest number where these do not fit. Of edited IR
/// anything may be large.
int64_t saturatingAdd(int64_t a, int64_t b);
int64_t saturatingMul(int64_t a, int64_t b);

/// Bytes [offset, offset + bytes) of an arena; in a pool, of slot 0.
struct Extent {
  MtcArena arena = MTC_ARENA_PARAMS;
  int64_t offset = 0, bytes = 0;
  std::optional<MtcPool> pool = {};
  int64_t stride = 0; ///< of the pool
  /// Saturates, so that what is too large is past the end of every arena.
  int64_t end() const { return saturatingAdd(offset, bytes); }
  bool sameSpace(const Extent &o) const {
    return arena == o.arena && pool == o.pool;
  }
  bool sameBytes(const Extent &o) const {
    return sameSpace(o) && offset == o.offset && bytes == o.bytes;
  }
  bool overlaps(const Extent &o) const {
    return sameSpace(o) && offset < o.end() && o.offset < end();
  }
};

/// One operand of an op of a fragment that is an address in an arena.
struct Access : rt::AccessKind {
  mutable rt::ViewOp view; ///< names the extent
  mutable rt::OffsetViewOp
      moved;       ///< null unless the view was moved inside its extent
  mlir::Type type; ///< of the operand
  Extent extent;   ///< of `view`: a moved view stays inside it
  /// The range that moved the view; null if it was not moved by one.
  rt::FlatRangeOp range() const {
    return moved ? moved.getElements().getDefiningOp<rt::FlatRangeOp>()
                 : rt::FlatRangeOp();
  }
};

/// An op with all that it touches, in operand order.
struct Touch {
  mlir::Operation *op = nullptr;
  llvm::SmallVector<Access, 8> accesses;
};

using pipe::Phase;

struct Fragment {
  mutable mlir::func::FuncOp fn;
  pipe::FragmentAttr of;      ///< null: it does not say which it is
  std::vector<Touch> touches; ///< program order; ops that touch no arena too
  llvm::StringRef name() const { return fn.getSymName(); }
  Phase phase() const { return of.getPhase(); }
  bool isUpdate() const { return of.isUpdate(); }
  bool isBackward() const { return of.isBackward(); }
  /// Of one microbatch only, the first or the last.
  bool isOfOne() const { return of.isOfOne(); }
};

/// One row of a timeline. It stays where it is, so that others can point to it.
struct Row : rt::Row {
  mutable rt::TimelineOp timeline;
  size_t index = 0;                   ///< in the timeline
  const Fragment *fragment = nullptr; ///< of a run; null if it names none
  int64_t microbatch = -1;            ///< -1: none
};

struct Timeline {
  mutable rt::TimelineOp op;
  std::vector<Row> rows;
};

/// One use of a parameter on a stage.
struct Param {
  mutable rt::ParamOp op;
  mutable pipe::ParameterOp of; ///< the model's; never null
  llvm::StringRef name() const { return op.getName(); }
  int64_t bucket() const { return op.getBucket(); }
  /// Elements of its bucket: [start, end).
  int64_t start() const { return op.getStart(); }
  int64_t elements() const { return of.getElements(); }
  int64_t end() const { return saturatingAdd(start(), elements()); }
  bool isOwner() const { return op.isOwner(); }
};

struct Stage {
  mutable rt::ProgramOp op;
  int64_t index = 0;
  std::vector<Fragment> fragments;
  std::map<std::string, Timeline> timelines; ///< by entry
  std::vector<rt::BucketOp> buckets;
  std::vector<rt::PackedOp> packed;
  std::vector<Param> params;
  std::array<int64_t, MTC_ARENA_COUNT> arenas{}; ///< bytes
  int64_t lossOffset = 0;
  /// Slots per pool: one more than the highest that a row uses.
  std::map<MtcPool, int64_t> slots;
  /// Of which states are sharded over dp (ZeRO), by index: those whose
  /// gradients are sums over it.
  std::set<int64_t> sharded;
  /// Of which accumulators are, too (ZeRO-2).
  std::set<int64_t> gradientsSharded;

  rt::BucketOp bucket(int64_t index) const;
  bool isSharded(int64_t bucket) const { return sharded.count(bucket); }
  bool shardsGradients(int64_t bucket) const {
    return gradientsSharded.count(bucket);
  }
  const Fragment *update(Phase phase) const;
  /// The fragment that other microbatches run where one runs `form`, to which
  /// it is held; null if there is none.
  const Fragment *plainOf(const Fragment &form) const;
  /// The fragments that microbatches run one of, which differ in form only:
  /// each such list once, in order of their first fragments, without the
  /// update.
  std::vector<std::vector<const Fragment *>> alternatives() const;
  /// What one microbatch runs of which `conditions` hold: of alternatives the
  /// one whose conditions all hold, and most; the first if none does.
  std::vector<const Fragment *> fragmentsOf(pipe::Form conditions) const;
  /// The conditions that fragments have, each list once, ascending.
  std::set<pipe::Form> forms() const;
  /// Whether it is of gradients, not of the loss, which lies beside them.
  bool isAccumulator(const Access &access) const {
    return access.extent.arena == MTC_ARENA_GRADS &&
           access.extent.offset != lossOffset;
  }
  /// The bytes of a parameter's values; none where the stage has an accumulator
  /// of it alone, or not its bucket.
  std::optional<Extent> valuesOf(const Param &param) const;
  /// Whether it writes accumulators of a shard, in which it begins.
  bool addsToShard(const Access &access) const;
};

/// Whether an op is a collective on accumulators: what it may be and do,
/// checkUpdate says.
bool sumsAccumulators(const Stage &stage, const Touch &touch);

/// Whether an op is a collective on parameters: what it may be and do,
/// checkUpdate and checkGathers say.
bool gathersParameters(const Touch &touch);

/// `stages[i].index == i`.
struct Model {
  mutable mlir::ModuleOp module;
  ConfigAttr config;
  Mesh mesh;
  int64_t layers = 0, microbatches = 1;
  int64_t chunks = 1;     ///< of each stage
  int64_t inputBytes = 0; ///< of one input of one microbatch, all of 4 bytes
  bool zero = false;      ///< ZeRO with more than one replica
  bool shardsGradients = false; ///< ZeRO-2 with more than one replica
  std::map<std::string, pipe::ParameterOp> parameters; ///< by name
  std::set<MtcAxis> splitting; ///< axes that split some of them
  /// By entry, name and the virtual stage that receives, and that sends.
  using Crossings = std::map<std::tuple<std::string, CrossingName, int64_t>,
                             pipe::CrossingOp>;
  Crossings arriving, leaving;
  std::vector<Stage> stages;

  bool splits(MtcAxis axis) const { return splitting.count(axis); }
  /// The place of a fragment along the model.
  int64_t virtualStage(const Fragment &fragment) const {
    return fragment.of.virtualStage(mesh.stages());
  }
};

/// Whether an op is a collective on gradients that wait for their sum over dp:
/// what it may be and do, checkAccumulators says. What shardings need along dp
/// serves something, and is held to what they say (checkCollectives).
bool sumsStaged(const Model &model, const Touch &touch);

/// Reads the module. What is malformed so that no check could go on (no
/// configuration, missing stages, buckets without offsets) is reported, and the
/// model has no stages.
Model readModel(mlir::ModuleOp module, Report &report);

/// Runs part(0) to part(count - 1), several at a time. What they find is
/// reported in that order, as if one had run after the other. Parts read what
/// no other part changes.
void inParallel(mlir::MLIRContext *context, size_t count, Report &report,
                llvm::function_ref<void(size_t, Report &)> part);

/// The same of a check that looks at each stage alone.
void forEachStage(const Model &model, Report &report,
                  llvm::function_ref<void(const Stage &, Report &)> check);

/// What every op of `fn` touches. Effects of launches come from the bodies of
/// their kernels: load, gather read; store writes; accumulate, scatter_add do
/// both.
std::vector<Touch> readTouches(rt::ProgramOp program, mlir::func::FuncOp fn,
                               Report &report);

/// Elements of a list of dimensions; saturates.
int64_t product(llvm::ArrayRef<int64_t> dims);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_MODEL_H

//===- staged_sums.cpp - sums over dp behind each microbatch --------------===//
#include "passes/verify/staged_sums.h"

#include "passes/verify/byte_map.h"
#include "passes/verify/update_kernel.h"
#include "passes/verify/update_slices.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// What elements of the workspace mean.
struct Staged {
  int64_t adds = 0;    ///< since it was zero: 1 is one gradient
  bool isKnown = true; ///< false of scratch
  /// The buffer whose sum over dp it is in: a rank has the sum of its shard of
  /// that. Empty before.
  std::pair<int64_t, int64_t> sum = {0, 0};
  bool isSummed() const { return sum.first < sum.second; }
};

/// The workspace of one fragment.
class Workspace {
public:
  void write(int64_t begin, int64_t end, Staged staged) {
    bytes.write(begin, end, all.size());
    all.push_back(staged);
  }
  struct Piece {
    int64_t begin, end;
    Staged staged;
  };
  /// What [begin, end) holds; what nothing wrote is unknown.
  std::vector<Piece> read(int64_t begin, int64_t end) const {
    std::vector<Piece> pieces;
    int64_t at = begin;
    auto fill = [&](int64_t to) {
      if (at < to)
        pieces.push_back({at, to, Staged{0, /*isKnown=*/false}});
    };
    bytes.forEach(begin, end, [&](int64_t from, int64_t to, int64_t index) {
      fill(from);
      pieces.push_back({from, to, all[index]});
      at = to;
    });
    fill(end);
    return pieces;
  }

private:
  ByteMap bytes;
  std::vector<Staged> all;
};

std::string describe(const Staged &staged) {
  if (!staged.isKnown)
    return "of unknown value";
  return std::to_string(staged.adds) + " additions since it was zero, " +
         (staged.isSummed() ? "summed over dp" : "not summed over dp");
}

class StagedSums {
public:
  StagedSums(const Model &model, const Stage &stage, Report &report)
      : model(model), stage(stage), report(report),
        slices(model, stage, report), kernels(stage.op) {}

  void check(ArrayRef<const Fragment *> fragments) {
    for (const Fragment *fragment : fragments)
      run(*fragment);
    for (const Param &param : stage.params)
      if (stage.shardsGradients(param.bucket()))
        checkParameter(param);
  }

private:
  void run(const Fragment &fragment) {
    workspace = Workspace();
    for (const Touch &touch : fragment.touches) {
      if (gathersParameters(touch))
        continue; // no gradients: checkGathers
      if (sumsStaged(model, touch))
        sum(touch, cast<rt::CollectiveOp>(touch.op));
      else if (llvm::any_of(touch.accesses, [&](const Access &access) {
                 return stage.addsToShard(access);
               }))
        addToShard(touch);
      else
        follow(touch);
    }
  }

  static bool isInWorkspace(const Access &access) {
    return access.extent.arena == MTC_ARENA_WORKSPACE;
  }
  static int64_t widthOf(const Access &access) {
    return getElementTypeOrSelf(access.type).getIntOrFloatBitWidth() / 8;
  }

  /// Any other op.
  void follow(const Touch &touch) {
    for (const Access &access : touch.accesses)
      if (isInWorkspace(access) && access.reads)
        expectNotSummed(touch, access);
    for (const Access &access : touch.accesses)
      if (isInWorkspace(access) && access.writes)
        write(touch, access);
  }

  void expectNotSummed(const Touch &touch, const Access &access) {
    const Extent &e = access.extent;
    for (const Workspace::Piece &piece : workspace.read(e.offset, e.end()))
      if (piece.staged.isSummed()) {
        report.error(touch.op)
            << "expected only the addition to a shard to read gradients that "
               "are summed over dp, found another reader";
        return;
      }
  }

  void write(const Touch &touch, const Access &access) {
    const Extent &e = access.extent;
    if (isa<rt::ZeroOp>(touch.op))
      return workspace.write(e.offset, e.end(), {});
    if (access.scratch || access.stores)
      return workspace.write(e.offset, e.end(), {1, !access.scratch});
    for (Workspace::Piece &piece : workspace.read(e.offset, e.end())) {
      piece.staged.adds += access.adds;
      workspace.write(piece.begin, piece.end, piece.staged);
    }
  }

  /// Whether some accumulators have the type, so that sums of it go there.
  bool isSummedIn(Type element) const {
    return llvm::any_of(stage.buckets, [&](rt::BucketOp bucket) {
      return bucket.gradType() == element;
    });
  }

  void sum(const Touch &touch, rt::CollectiveOp op) {
    const Access *buffer =
        touch.accesses.size() == 1 ? &touch.accesses[0] : nullptr;
    int64_t width = buffer ? widthOf(*buffer) : 1;
    int64_t bytes = saturatingMul(
        width, saturatingMul(op.getCount(), model.mesh[MTC_AXIS_DP]));
    if (op.getKind() != rt::CollectiveKind::ReduceScatter || !buffer ||
        !isInWorkspace(*buffer) || buffer->moved ||
        buffer->extent.bytes != bytes ||
        !isSummedIn(getElementTypeOrSelf(buffer->type))) {
      report.error(op) << "expected reduce-scatters over dp of a whole buffer "
                          "in the workspace, of the type of accumulators, "
                          "before the update, found "
                       << stringifyCollectiveKind(op.getKind())
                       << " of another";
      return;
    }
    const Extent &e = buffer->extent;
    for (Workspace::Piece &piece : workspace.read(e.offset, e.end())) {
      Staged &staged = piece.staged;
      if (!staged.isKnown || staged.isSummed() || staged.adds > 1)
        report.error(op) << "expected gradients of one microbatch, or zero, to "
                            "be summed over dp, found elements "
                         << (piece.begin - e.offset) / width << " to "
                         << (piece.end - e.offset) / width << " "
                         << describe(staged);
      staged.sum = {e.offset, e.end()};
      workspace.write(piece.begin, piece.end, staged);
    }
  }

  /// Accumulators, and the buffer of the workspace that is added to them.
  struct Addition {
    Slice into;
    std::pair<int64_t, int64_t> from;
  };

  /// None, if it was reported, or if the op adds otherwise.
  std::optional<Addition> additionOf(const Touch &touch, bool &isReported) {
    auto launch = dyn_cast<rt::LaunchOp>(touch.op);
    const FlatKernel *kernel =
        launch ? kernels.find(launch.getKernel()) : nullptr;
    if (!kernel || touch.accesses.size() != 2 || kernel->operands.size() != 2 ||
        launch.getScalars().size() != 1)
      return std::nullopt;
    const FlatKernel::Operand &sum = kernel->operands[0];
    const Access &into = touch.accesses[0], &from = touch.accesses[1];
    if (sum.added != 1 || sum.addsOther || sum.loaded || sum.storedFrom ||
        kernel->operands[1].storedFrom || !isInWorkspace(from))
      return std::nullopt;
    std::optional<Slice> slice =
        slices.measured(touch, into, launch.getScalars().front());
    isReported = !slice;
    if (!slice || slice->part != Part::Grad || slice->range.getAmong() ||
        from.range() != slice->range ||
        from.moved.getElements() != slice->range.getAt())
      return std::nullopt;
    rt::BucketOp bucket = stage.bucket(slice->bucket);
    if (getElementTypeOrSelf(from.type) != bucket.gradType() ||
        from.extent.bytes !=
            saturatingMul(bucket.gradBytes(), bucket.getElements()))
      return std::nullopt;
    return Addition{*slice, {from.extent.offset, from.extent.end()}};
  }

  void addToShard(const Touch &touch) {
    bool isReported = false;
    std::optional<Addition> addition = additionOf(touch, isReported);
    if (!addition) {
      if (!isReported)
        report.error(touch.op)
            << "expected a rank's part of a staging buffer of the bucket's "
               "size to be added to the same elements of its shard, found "
               "another op that changes accumulators";
      return;
    }
    int64_t first = addition->from.first;
    const Slice &into = addition->into;
    int64_t width = stage.bucket(into.bucket).gradBytes();
    for (const Workspace::Piece &piece :
         workspace.read(first + width * into.begin, first + width * into.end))
      count(touch, *addition, (piece.begin - first) / width,
            (piece.end - first) / width, piece.staged);
  }

  /// Elements [begin, end) of a bucket are added, which are all `staged`.
  void count(const Touch &touch, const Addition &addition, int64_t begin,
             int64_t end, const Staged &staged) {
    int64_t bucket = addition.into.bucket;
    for (int64_t at = begin, next; at < end; at = next) {
      next = end;
      const Param *param = paramAt(bucket, at, next);
      // Padding is no gradient.
      std::string what =
          param ? "one gradient of \"" + param->name().str() + "\"" : "zero";
      if (!staged.isKnown || staged.sum != addition.from ||
          staged.adds != (param ? 1 : 0))
        report.error(touch.op)
            << "expected " << what
            << ", summed over dp in this buffer, to be added to elements " << at
            << " to " << next << " of bucket " << bucket << ", found "
            << describe(staged);
      addOnce(added[bucket], at, next);
    }
  }

  /// The use of a parameter that has element `at` of a bucket, or null; `end`
  /// is lowered to where that changes.
  const Param *paramAt(int64_t bucket, int64_t at, int64_t &end) const {
    const Param *found = nullptr;
    for (const Param &param : stage.params) {
      if (param.bucket() != bucket || param.end() <= at)
        continue;
      bool isHere = param.start() <= at;
      found = isHere ? &param : found;
      end = std::min(end, isHere ? param.end() : param.start());
    }
    return found;
  }

  static void addOnce(ByteMap &times, int64_t begin, int64_t end) {
    std::vector<std::array<int64_t, 3>> more;
    times.forEach(begin, end, [&](int64_t from, int64_t to, int64_t before) {
      more.push_back({from, to, before + 1});
    });
    times.write(begin, end, 1);
    for (auto [from, to, value] : more)
      times.write(from, to, value);
  }

  void checkParameter(const Param &param) {
    ByteMap::Content content =
        added[param.bucket()].read(param.start(), param.end());
    if (content.value == 1)
      return;
    report.error(param.op)
        << "expected backward to add all of the gradient of \"" << param.name()
        << "\" to its shards once per microbatch, found elements that it adds "
        << (content.gap ? "never" : "several times");
  }

  const Model &model;
  const Stage &stage;
  Report &report;
  Slices slices;
  FlatKernels kernels;
  Workspace workspace;
  /// By bucket, how often backward adds to its elements.
  std::map<int64_t, ByteMap> added;
};

} // namespace

void checkStagedSums(const Model &model, const Stage &stage,
                     ArrayRef<const Fragment *> fragments, Report &report) {
  StagedSums(model, stage, report).check(fragments);
}

} // namespace mtc::passes::verify

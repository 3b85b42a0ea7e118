//===- views.cpp - where views lie ----------------------------------------===//
#include "passes/verify/checks.h"

#include <optional>
#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

constexpr int64_t kLine = 64; ///< bytes of a cache line

/// Bytes of one pool, over all its slots: [begin, begin + stride·slots).
struct PoolHull {
  int64_t begin = 0, end = 0; ///< of slot 0, over all its views
  int64_t stride = 0;
  Operation *first = nullptr;
};

class ViewChecker {
public:
  ViewChecker(const Model &model, const Stage &stage, Report &report)
      : model(model), stage(stage), report(report) {}

  void check() {
    for (const Fragment &fragment : stage.fragments)
      for (const Touch &touch : fragment.touches)
        for (const Access &access : touch.accesses)
          checkAccess(fragment, touch, access);
    for (auto input : stage.op.getOps<rt::InputSlotOp>())
      checkInput(input);
    for (auto exported : stage.op.getOps<rt::ExportSlotOp>())
      checkExtent(exported, {exported.getArena(), exported.getOffset(),
                             rt::bytesOf(exported.getType())});
    for (auto &[entry, timeline] : stage.timelines)
      for (const Row &row : timeline.rows)
        if (row.isExchange())
          checkTransfers(row);
    checkPools();
  }

private:
  void checkInput(rt::InputSlotOp input) {
    if (!inputNamed(input.getName().str()))
      report.error(input) << "expected an input that the data loader fills, "
                          << inputNames() << ", found \"" << input.getName()
                          << "\"";
    checkExtent(input, {MTC_ARENA_ACTIVATIONS, input.getOffset(),
                        model.inputBytes, input.getPool(), input.getStride()});
  }

  void checkAccess(const Fragment &fragment, const Touch &touch,
                   const Access &access) {
    if (seen.insert(access.view).second)
      checkExtent(access.view, access.extent,
                  access.view.getType().getElementTypeBitWidth() / 8,
                  liesAsParameter(access));
    // By how much is known at run time: checkUpdate checks the ranges, and
    // checkAccumulators those that add a rank's part of a sum.
    bool sums = fragment.isBackward() &&
                llvm::any_of(touch.accesses, [&](const Access &each) {
                  return stage.addsToShard(each);
                });
    bool isOfUpdate = fragment.isUpdate() || gathersParameters(touch) ||
                      (sumsAccumulators(stage, touch) && fragment.isBackward());
    if (access.moved && !isOfUpdate && !sums)
      report.error(access.moved)
          << "expected moved views only in reduce and apply, and in sums of "
             "gradients, found one in \""
          << fragment.name() << "\"";
    checkGradientOnly(fragment, touch, access);
    MtcArena arena = access.extent.arena;
    if (arena == MTC_ARENA_ACTIVATIONS || arena == MTC_ARENA_WORKSPACE ||
        arena == MTC_ARENA_PACKED) // checkPacked
      return;
    if (isOfUpdate)
      checkInBucket(access);
    else
      checkParameter(fragment, touch, access);
  }

  /// Gradients that wait in the workspace for their sum over dp lie as their
  /// parameters do, in dense buckets side by side.
  bool liesAsParameter(const Access &access) const {
    return access.adds && model.shardsGradients &&
           model.config.getOptimizer().getLayout() == FlatLayout::Dense;
  }

  /// The rules of a single extent. Parameters are packed without gaps, so that
  /// one starts at any of its `elementBytes`; everything else starts at a line.
  void checkExtent(Operation *op, const Extent &e, int64_t elementBytes = 4,
                   bool liesAsParameter = false) {
    const ArenaInfo &arena = kArenas[e.arena];
    if (arena.slotted && !e.pool) {
      report.error(op) << "expected a slot in the arena " << arena.name
                       << ", found none";
      return;
    }
    bool isPacked = liesAsParameter || !arena.transient;
    int64_t align = isPacked ? elementBytes : kLine;
    if (e.offset % align != 0 || e.stride % align != 0)
      report.error(op) << "expected offset and stride in multiples of " << align
                       << " bytes in the arena " << arena.name
                       << ", found offset " << e.offset << " and stride "
                       << e.stride;
    int64_t slots = e.pool ? slotsOf(*e.pool) : 1;
    int64_t end = saturatingAdd(e.end(), saturatingMul(slots - 1, e.stride));
    if (e.offset < 0 || e.stride < 0 || end > stage.arenas[e.arena])
      report.error(op) << "expected bytes inside the arena "
                       << kArenas[e.arena].name << " of "
                       << stage.arenas[e.arena] << " bytes, found bytes "
                       << e.offset << " to " << end << " (" << slots
                       << " slots)";
    if (e.pool)
      grow(op, e);
  }

  void grow(Operation *op, const Extent &e) {
    auto [it, isNew] =
        pools.try_emplace(*e.pool, PoolHull{e.offset, e.end(), e.stride, op});
    PoolHull &hull = it->second;
    hull.begin = std::min(hull.begin, e.offset);
    hull.end = std::max(hull.end, e.end());
    if (hull.stride != e.stride) {
      auto diag = report.error(op)
                  << "expected one stride in pool " << poolName(*e.pool) << ", "
                  << hull.stride << ", found " << e.stride;
      diag.attachNote(hull.first->getLoc()) << "the first view of the pool";
    }
  }

  void checkPools() {
    for (auto it = pools.begin(); it != pools.end(); ++it) {
      auto &[a, hull] = *it;
      if (slotsOf(a) > 1 && hull.end - hull.begin > hull.stride)
        report.error(hull.first)
            << "expected the views of a slot of pool " << poolName(a)
            << " inside one stride of " << hull.stride << " bytes, found bytes "
            << hull.begin << " to " << hull.end;
      for (auto &[b, other] : llvm::make_range(std::next(it), pools.end()))
        if (hull.begin < endOf(b, other) && other.begin < endOf(a, hull))
          report.error(other.first)
              << "expected pools that share no bytes, found " << poolName(a)
              << " at " << hull.begin << " to " << endOf(a, hull) << " and "
              << poolName(b) << " at " << other.begin << " to "
              << endOf(b, other);
    }
  }
  /// Slots that rows use; one where none does.
  int64_t slotsOf(MtcPool pool) const {
    auto it = stage.slots.find(pool);
    return it == stage.slots.end() ? 1 : it->second;
  }
  int64_t endOf(MtcPool pool, const PoolHull &hull) const {
    return saturatingAdd(hull.end,
                         saturatingMul(slotsOf(pool) - 1, hull.stride));
  }

  static int64_t endOf(const rt::Transfer &t) {
    return saturatingAdd(t.offset, t.bytes);
  }

  void checkTransfers(const Row &exchange) {
    ArrayRef<rt::Transfer> transfers = exchange.getTransfers();
    for (auto [i, t] : llvm::enumerate(transfers)) {
      if (t.offset < 0 || t.offset % kLine != 0 || t.bytes <= 0 ||
          endOf(t) > stage.arenas[MTC_ARENA_ACTIVATIONS])
        report.error(exchange)
            << "expected the transfer inside the arena of "
            << stage.arenas[MTC_ARENA_ACTIVATIONS]
            << " bytes, from a multiple of " << kLine << ", found " << t.bytes
            << " bytes at " << t.offset;
      for (const rt::Transfer &other : transfers.drop_front(i + 1))
        if (!(t.send && other.send) && t.offset < endOf(other) &&
            other.offset < endOf(t))
          report.error(exchange)
              << "expected buffers of one exchange apart, because its "
                 "transfers "
                 "run at once, found a receive that overlaps bytes "
              << t.offset << " to " << endOf(t);
    }
  }

  bool isLoss(const Extent &e) const {
    return e.arena == MTC_ARENA_GRADS && e.offset == stage.lossOffset &&
           e.bytes == 4;
  }

  /// In the first microbatch what others have added is not wanted, and the norm
  /// has nothing but gradients.
  void checkGradientOnly(const Fragment &fragment, const Touch &touch,
                         const Access &access) {
    bool isGradient = fragment.isBackward() && stage.isAccumulator(access) &&
                      !access.moved && parameterAt(access.extent);
    if (isGradient)
      return;
    auto reject = [&](StringRef what) {
      report.error(touch.op)
          << "expected " << what << " only the gradient of a parameter, in a "
          << "backward, found other bytes in \"" << fragment.name() << "\"";
    };
    if (access.storesFirst)
      reject("the first microbatch to store (stores_first)");
    auto product = dyn_cast<rt::GemmOp>(touch.op);
    if (product && product.getCountsLast() && access.writes && !access.scratch)
      reject("the last microbatch to count (counts_last)");
  }

  /// Compute fragments name whole parameters and accumulators; they change no
  /// parameter, and add to accumulators.
  void checkParameter(const Fragment &fragment, const Touch &touch,
                      const Access &access) {
    const Extent &e = access.extent;
    if (e.arena == MTC_ARENA_OPTIMIZER ||
        (e.arena == MTC_ARENA_PARAMS && access.writes)) {
      report.error(touch.op)
          << "expected only apply to "
          << (e.arena == MTC_ARENA_PARAMS ? "write parameters"
                                          : "touch moments")
          << ", found \"" << fragment.name() << "\" at offset " << e.offset;
      return;
    }
    if (!isLoss(e) && !parameterAt(e))
      report.error(access.view)
          << "expected "
          << (e.arena == MTC_ARENA_PARAMS
                  ? "a parameter"
                  : "the accumulator of a parameter or the loss")
          << " of stage " << stage.index << ", found " << e.bytes
          << " bytes at " << e.offset << " where none of this size lies";
    if (e.arena == MTC_ARENA_GRADS && access.stores && model.microbatches > 1)
      report.error(touch.op) << "expected microbatches to add to gradients, "
                                "found a write over the "
                                "accumulator at offset "
                             << e.offset;
  }

  bool parameterAt(const Extent &e) {
    if (known.empty())
      for (const Param &param : stage.params)
        if (rt::BucketOp bucket = stage.bucket(param.bucket())) {
          int64_t start = param.start(), elements = param.elements(),
                  sum = bucket.gradBytes();
          if (std::optional<Extent> values = stage.valuesOf(param))
            known.insert({values->arena, values->offset, values->bytes});
          if (stage.shardsGradients(bucket.getIndex()))
            known.insert({MTC_ARENA_GRADS, *bucket.getGradOffset(),
                          sum * bucket.gradElements()});
          else
            known.insert({MTC_ARENA_GRADS,
                          *bucket.getGradOffset() + sum * start,
                          sum * elements});
        }
    return known.count({e.arena, e.offset, e.bytes});
  }

  void checkInBucket(const Access &access) {
    const Extent &e = access.extent;
    bool found = isLoss(e);
    for (rt::BucketOp bucket : stage.buckets) {
      int64_t bytes = bucket.gradBytes() * bucket.gradElements();
      int64_t shard = 4 * bucket.getShard();
      auto inside = [&](int64_t begin, int64_t size) {
        return begin >= 0 && e.offset >= begin && e.end() <= begin + size;
      };
      found |=
          e.arena == MTC_ARENA_GRADS && inside(*bucket.getGradOffset(), bytes);
      if (bucket.isSecondUse())
        continue;
      found |= e.arena == MTC_ARENA_PARAMS &&
               inside(*bucket.getParamOffset(),
                      bucket.paramBytes() * bucket.getElements());
      for (StringRef state : bucket.stateNames())
        found |= e.arena == MTC_ARENA_OPTIMIZER &&
                 inside(*bucket.stateOffset(state), shard);
    }
    if (!found)
      report.error(access.view) << "expected bytes of one bucket in the arena "
                                << kArenas[e.arena].name << ", found "
                                << e.offset << " to " << e.end();
  }

  const Model &model;
  const Stage &stage;
  Report &report;
  std::map<MtcPool, PoolHull> pools;
  std::set<std::tuple<int64_t, int64_t, int64_t>>
      known; ///< arena, offset, bytes
  std::set<Operation *> seen;
};

} // namespace

void checkViews(const Model &model, Report &report) {
  forEachStage(model, report, [&](const Stage &stage, Report &found) {
    ViewChecker(model, stage, found).check();
  });
}

} // namespace mtc::passes::verify

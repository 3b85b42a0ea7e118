//===- UpdateFragments.cpp - the fragments `reduce` and `apply` -----------===//
#include "passes/plan/UpdateFragments.h"

#include "dialects/pipe/Pipe.h"
#include "dialects/tfm/Tfm.h"
#include "passes/families/kernel_body.h"
#include "passes/plan/FlatKernels.h"
#include "passes/plan/KernelPool.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::passes {
namespace {

class UpdateBuilder {
public:
  UpdateBuilder(rt::ProgramOp program, const UpdatePlan &plan)
      : program(program), plan(plan), pool(&program.getBody().front()),
        b(program.getContext()), loc(program.getLoc()), whole(loc) {}

  void reduce() {
    begin(pipe::Phase::Reduce);
    if (plan.lastStage)
      for (MtcGroup group : sumsOfLoss())
        collective(rt::CollectiveKind::AllReduce, lossRef(), group, 1, "loss");
    for (size_t i = 0; i < plan.buckets.size(); ++i)
      sum(i);
    for (size_t i = 0; i < plan.buckets.size(); ++i)
      addUses(i);
    norm();
    end();
  }

  void apply() {
    begin(pipe::Phase::Apply);
    auto alike = [](const UpdateSegment &a, const UpdateSegment &b) {
      return a.decay == b.decay && a.group == b.group;
    };
    for (const UpdateSegment &segment : joined(alike)) {
      loc = segment.part;
      update(segment);
    }
    loc = whole;
    for (size_t i = 0; i < plan.buckets.size(); ++i)
      if (plan.buckets[i].sharded && !plan.buckets[i].secondUseOf)
        collective(rt::CollectiveKind::AllGather, ref(rt::RefKind::Param, i),
                   MTC_GROUP_DP, plan.buckets[i].shard, "zero1");
    // The next step accumulates from zero.
    for (size_t i = 0; i < plan.buckets.size(); ++i)
      rt::ZeroOp::create(b, loc, Type(),
                         plan.buckets[i].shardsGradients
                             ? gradsHeld(i)
                             : ref(rt::RefKind::Grad, i),
                         /*guarded=*/true);
    end();
  }

private:
  Type f32() { return b.getF32Type(); }

  void begin(pipe::Phase phase) {
    b.setInsertionPointToEnd(&program.getBody().front());
    std::string name =
        (program.getSymName() + "_" + pipe::stringifyPhase(phase)).str();
    loc = whole = NameLoc::get(b.getStringAttr(name));
    auto fn = func::FuncOp::create(b, loc, name, b.getFunctionType({}, {}));
    fn->setAttr(pipe::FragmentAttr::attrName,
                pipe::FragmentAttr::get(b.getContext(), program.getStage(),
                                        /*chunk=*/0, phase));
    b.setInsertionPointToStart(fn.addEntryBlock());
  }
  void end() { func::ReturnOp::create(b, loc); }

  Value ref(rt::RefKind kind, int64_t bucket) {
    const UpdateBucket &of = plan.buckets[bucket];
    bool isShard = kind == rt::RefKind::Grad && of.shardsGradients;
    Type type = MemRefType::get({isShard ? of.shard : of.elements},
                                kind == rt::RefKind::Param ? of.paramType
                                                           : of.gradType);
    return rt::RefOp::create(b, loc, type, kind, StringAttr(),
                             b.getI64IntegerAttr(bucket), IntegerAttr(),
                             StringAttr(), IntegerAttr());
  }
  Value stateRef(StringRef state, int64_t bucket) {
    return rt::RefOp::create(
        b, loc, MemRefType::get({plan.buckets[bucket].shard}, f32()),
        rt::RefKind::State, b.getStringAttr(state), b.getI64IntegerAttr(bucket),
        IntegerAttr(), StringAttr(), IntegerAttr());
  }
  Value lossRef() {
    return rt::RefOp::create(b, loc, MemRefType::get({1}, f32()),
                             rt::RefKind::Loss, StringAttr(), IntegerAttr(),
                             IntegerAttr(), StringAttr(), IntegerAttr());
  }
  void collective(rt::CollectiveKind kind, Value buffer, MtcGroup group,
                  int64_t count, StringRef origin) {
    rt::CollectiveOp::create(b, loc, Type(), kind, buffer, group, count)
        ->setAttr("origin", b.getStringAttr(origin));
  }
  /// The segments, neighbours as one where they are `alike` and nothing lies
  /// between them: on a GPU a launch for each bias is longer than its work.
  template <class Alike> std::vector<UpdateSegment> joined(const Alike &alike) {
    std::vector<UpdateSegment> ordered = plan.segments, out;
    llvm::stable_sort(ordered, [](const auto &a, const auto &b) {
      return std::pair(a.bucket, a.start) < std::pair(b.bucket, b.start);
    });
    for (auto next = ordered.begin(), end = ordered.end(); next != end;) {
      UpdateSegment first = *next, last = first;
      while (++next != end && next->bucket == last.bucket &&
             next->start == last.start + last.count && alike(last, *next))
        last = *next;
      first.part = spanOf(first.part, last.part);
      first.count = last.start + last.count - first.start;
      out.push_back(std::move(first));
    }
    return out;
  }
  /// What this rank has of a segment.
  rt::FlatRangeOp range(const UpdateSegment &s) {
    return rt::FlatRangeOp::create(
        b, loc, b.getI64IntegerAttr(s.start), b.getI64IntegerAttr(s.count),
        plan.buckets[s.bucket].sharded
            ? b.getI64IntegerAttr(plan.buckets[s.bucket].shard)
            : IntegerAttr(),
        rt::GroupsAttr());
  }
  /// What it counts of a segment: ranks that have the same count a part each.
  rt::FlatRangeOp rangeOfCount(const UpdateSegment &s) {
    rt::FlatRangeOp r = range(s);
    SmallVector<MtcGroup> among;
    for (MtcGroup group : s.same)
      if (plan.mesh.groupSize(group) > 1 &&
          !(plan.buckets[s.bucket].sharded && group == MTC_GROUP_DP))
        among.push_back(group);
    if (!among.empty())
      r.setAmongAttr(rt::GroupsAttr::get(b.getContext(), among));
    return r;
  }
  Value moved(Value view, Value elements) {
    return rt::OffsetViewOp::create(b, loc, view.getType(), view, elements);
  }

  /// Where the accumulators of a range begin in what this rank has of them.
  Value placeOf(int64_t bucket, rt::FlatRangeOp range) {
    return plan.buckets[bucket].shardsGradients ? range.getLocal()
                                                : range.getAt();
  }
  Value grads(int64_t bucket, rt::FlatRangeOp range) {
    return moved(ref(rt::RefKind::Grad, bucket), placeOf(bucket, range));
  }
  /// All that this rank has of the accumulators of a bucket.
  Value gradsHeld(int64_t bucket) {
    Value buffer = ref(rt::RefKind::Grad, bucket);
    return plan.buckets[bucket].sharded
               ? moved(buffer, placeOf(bucket, range(wholeOf(bucket))))
               : buffer;
  }

  /// Of the loss: those along which the data differ.
  SmallVector<MtcGroup> sumsOfLoss() const {
    SmallVector<MtcGroup> groups;
    for (const AxisInfo &axis : kAxes)
      if (plan.mesh.hasPartialSums(axis))
        groups.push_back(groupAlong(axis.id));
    llvm::sort(groups, isSummedBefore);
    return groups;
  }

  /// With ZeRO a rank has only its shard of the bucket once dp is summed, so
  /// that only this is moved along other axes. Under ZeRO-2 backwards have done
  /// the sum over dp.
  void sum(size_t i) {
    const UpdateBucket &bucket = plan.buckets[i];
    for (MtcGroup group : bucket.partial)
      if (plan.mesh.groupSize(group) == 1)
        continue;
      else if (group != MTC_GROUP_DP || !bucket.sharded)
        allReduceHeld(i, group, "gradient");
      else if (!bucket.shardsGradients)
        collective(rt::CollectiveKind::ReduceScatter, ref(rt::RefKind::Grad, i),
                   MTC_GROUP_DP, bucket.shard, "gradient");
  }

  /// All of a bucket, as a segment.
  UpdateSegment wholeOf(size_t i) {
    return {static_cast<int64_t>(i),
            0,
            plan.buckets[i].elements,
            /*decay=*/false,
            /*group=*/0,
            {},
            true,
            loc};
  }

  /// Sums what this rank has of a bucket once dp is summed.
  void allReduceHeld(size_t i, MtcGroup group, StringRef origin) {
    const UpdateBucket &bucket = plan.buckets[i];
    collective(rt::CollectiveKind::AllReduce, gradsHeld(i), group,
               bucket.sharded ? bucket.shard : bucket.elements, origin);
  }

  /// Uses of a tied parameter, added in forward order after their reduction.
  void addUses(size_t i) {
    const UpdateBucket &bucket = plan.buckets[i];
    if (bucket.secondUseOf) {
      auto r = range(wholeOf(i));
      Value into = grads(*bucket.secondUseOf, r);
      Value from = grads(i, r);
      launch(flatAddKernel(b, loc, bucket.gradType), {into, from},
             r.getLength());
    }
    if (bucket.acrossStages)
      allReduceHeld(i, MTC_GROUP_EMBEDDING, "embedding");
  }

  void norm() {
    rt::NormOp::create(b, loc, rt::NormAction::Reset, Value(), Value());
    // Ranks of other stages have no loss; all of them stop where it is not
    // finite.
    if (plan.lastStage)
      rt::NormOp::create(b, loc, rt::NormAction::Check, lossRef(), Value());
    auto alike = [](const UpdateSegment &a, const UpdateSegment &b) {
      return a.owner == b.owner && a.same == b.same;
    };
    for (const UpdateSegment &s : joined(alike)) {
      if (!s.owner)
        continue;
      loc = s.part;
      auto r = rangeOfCount(s);
      rt::NormOp::create(b, loc, rt::NormAction::Accumulate, grads(s.bucket, r),
                         r.getLength());
    }
    loc = whole;
    rt::CollectiveOp::create(b, loc, Type(), rt::CollectiveKind::NormReduce,
                             Value(), MTC_GROUP_ALL, 1)
        ->setAttr("origin", b.getStringAttr("norm"));
    rt::NormOp::create(b, loc, rt::NormAction::Finish, Value(), Value());
  }

  void update(const UpdateSegment &s) {
    auto r = range(s);
    Value param = moved(ref(rt::RefKind::Param, s.bucket), r.getAt());
    const UpdateBucket &bucket = plan.buckets[s.bucket];
    SmallVector<Value> states;
    for (StringRef state : bucket.states)
      states.push_back(moved(stateRef(state, s.bucket), r.getLocal()));
    bool keepsMain = bucket.keepsMain();
    SmallVector<Value> buffers = {keepsMain ? states.front() : param,
                                  grads(s.bucket, r)};
    llvm::append_range(buffers, ArrayRef(states).drop_front(keepsMain));
    if (keepsMain)
      buffers.push_back(param);
    SmallVector<std::string> fields;
    rt::KernelOp kernel = updateKernel(bucket, s.decay, fields);
    kernel.setGuarded(true);
    for (const std::string &field : fields)
      buffers.push_back(stepField(field, s.group));
    launch(kernel, buffers, r.getLength());
  }

  Value stepField(StringRef name, int64_t group) {
    StepField field = *idNamed(kStepFields, name);
    bool isOwn = group > 0 && kStepFields[field].isOfGroups();
    return rt::StepFieldOp::create(b, loc, MemRefType::get({1}, f32()), field,
                                   isOwn ? b.getI64IntegerAttr(group)
                                         : IntegerAttr());
  }

  /// Takes a detached kernel, and runs it over a range.
  void launch(rt::KernelOp kernel, ValueRange buffers, Value length) {
    SmallVector<int64_t> written = kernel.getWrittenOperands();
    rt::LaunchOp::create(b, loc, pool.add(kernel), buffers, length, written);
  }

  Attribute operand(rt::Mode mode, Type element = {}) {
    return rt::OperandAttr::get(b.getContext(), mode, element ? element : f32(),
                                0);
  }

  /// Operands: what is updated, its gradient, the states; with main parameters
  /// then the parameter in the compute type; last the fields of the step that
  /// the body reads. The body comes from the op family; no name of an optimizer
  /// reaches codegen.
  rt::KernelOp updateKernel(const UpdateBucket &bucket, bool decay,
                            SmallVector<std::string> &fields) {
    int64_t values = 2 + plan.optimizer->states.size();
    SmallVector<Type> types(values, f32());
    types[1] = bucket.gradType;
    SmallVector<Attribute> operands;
    for (Type type : types)
      operands.push_back(operand(rt::Mode::Full, type));
    if (bucket.keepsMain())
      operands.push_back(operand(rt::Mode::Full, bucket.paramType));
    return flatKernel(b, loc, operands, [&](OpBuilder &inner) {
      SmallVector<Value> x;
      for (auto [i, type] : llvm::enumerate(types))
        x.push_back(loadWide(inner, loc, type, i));
      families::BodyContext context(inner, loc, 1, -1);
      llvm::StringMap<Value> loaded;
      context.stepField = [&](StringRef field) {
        Value &value = loaded[field];
        if (!value) {
          value = rt::LoadOp::create(inner, loc, f32(), operands.size());
          operands.push_back(operand(rt::Mode::Scalar));
          fields.push_back(field.str());
        }
        return value;
      };
      SmallVector<Value> out = emitUpdate(context, x, decay);
      rt::StoreOp::create(inner, loc, 0, out.front());
      for (int64_t i = 2; i < values; ++i)
        rt::StoreOp::create(inner, loc, i, out[i - 1]);
      if (bucket.keepsMain())
        rt::StoreOp::create(
            inner, loc, values,
            arith::TruncFOp::create(inner, loc, bucket.paramType, out.front()));
    });
  }

  /// The optimizer's arithmetic on the scalars `x`: the new parameter and
  /// states.
  SmallVector<Value> emitUpdate(families::BodyContext &context,
                                ArrayRef<Value> x, bool decay) {
    OpBuilder scratch(program.getContext());
    Block holder;
    scratch.setInsertionPointToEnd(&holder);
    Value any =
        tfm::FillOp::create(scratch, loc, RankedTensorType::get({1}, f32()),
                            scratch.getF64FloatAttr(0.0));
    SmallVector<Value> states(plan.optimizer->states.size(), any);
    Operation *op =
        plan.optimizer->create(scratch, loc, any, any, states, decay);
    // The body of an update cannot fail: it is plain arithmetic of scalars.
    auto out = *cast<families::KernelBodyOpInterface>(op).emitBody(context, x);
    holder.clear();
    return SmallVector<Value>(out.begin(), out.end());
  }

  rt::ProgramOp program;
  const UpdatePlan &plan;
  KernelPool pool;
  OpBuilder b;
  Location loc;   ///< of what is made now: a parameter's, or the fragment's
  Location whole; ///< the fragment's
};

} // namespace

Location spanOf(Location first, Location last) {
  auto from = dyn_cast<NameLoc>(first), to = dyn_cast<NameLoc>(last);
  if (first == last || !from || !to)
    return first;
  return NameLoc::get(
      StringAttr::get(first.getContext(), from.getName().getValue() + " to " +
                                              to.getName().getValue()));
}

void buildUpdateFragments(rt::ProgramOp program, const UpdatePlan &plan) {
  UpdateBuilder builder(program, plan);
  builder.reduce();
  builder.apply();
}

} // namespace mtc::passes

//===- checks.h - the checks of verify-plan ---------------------*- C++ -*-===//
//
// Each check reads the model and reports everything it finds. They are
// independent of each other and of the passes that made the plan.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_VERIFY_CHECKS_H
#define MTC_PASSES_VERIFY_CHECKS_H

#include "passes/verify/model.h"

namespace mtc::passes::verify {

/// Every entry on every stage; train ends with reduce and apply; every
/// microbatch runs once per fragment; microbatches ascend where a fragment
/// accumulates (contract N4: sums add in the same order in every schedule), or
/// are in the order of the slots where somebody wrote the schedule.
void checkTimelines(const Model &model, Report &report);

/// What the fragments of tensor forms send and receive is what pipe.crossing
/// says, with its type.
void checkCrossings(const Model &model, Report &report);

/// All ranks of the machine: collectives agree on every communicator, transfers
/// pair in tag, size and order, and there is no wait-for cycle, over two steps.
void checkMachine(const Model &model, Report &report);

/// Views lie in their arenas, aligned, in a known pool; params, grads and
/// moments lie where the buckets say; pools do not share bytes.
void checkViews(const Model &model, Report &report);

/// Inside a fragment a value is whole when it is read: nothing else was written
/// over its bytes since it was made. Over a timeline every read of a slot finds
/// the value of its own microbatch, and every send sends what its tag says.
void checkValues(const Model &model, Report &report);

/// What each fragment sends, saves, exports, adds to accumulators and writes to
/// parameters is what it computes in the tensor form; tables say what they said
/// there.
void checkSameValues(const Model &model, Report &report);

/// Streams exist on the target; ops of different streams that touch the same
/// bytes, one of them writing, are ordered by events, within a fragment and
/// from row to row of an entry, which ends with nothing in flight. So an entry
/// means what its program order means, which is what all other checks look at.
void checkStreams(const Model &model, Report &report);

/// Axes that ops name are axes of the mesh over which tensors are split.
void checkAxes(const Model &model, Report &report);

/// Calls of attention have the sample, the head and the positions of queries in
/// the whole model that their ranks have.
void checkAddresses(const Model &model, Report &report);

/// Likewise kernels: the numbers of random words, the rows of tables that are
/// parameters, positions, and the logits that labels are compared with.
void checkKernelAddresses(const Model &model, Report &report);

/// Kernels bring the elements of each rank's part to where a collective has
/// them, and away from there.
void checkRowMoves(const Model &model, Report &report);

/// Each layer is on the stage, and in the chunk, that the configuration says.
void checkLayers(const Model &model, Report &report);

/// Parameters are owned once; shards add up; buckets and moments have offsets
/// of their own.
void checkOwners(const Model &model, Report &report);

/// Calls of the device's libraries have the scratch that these need.
void checkScratch(const Model &model, Report &report);

/// A microbatch is added once to the gradient of each use of each parameter,
/// backward, and once to the loss, forward and in eval.
void checkAccumulators(const Model &model, Report &report);

/// What fragments of layers reduce and gather is what their shardings need
/// (rt.collectives).
void checkCollectives(const Model &model, Report &report);

/// `reduce` and `apply`, by what they do to the elements of buckets
/// (update_interpreter.h): every gradient is summed over ranks, uses and stages
/// before the norm counts it, once over all ranks, and every parameter and
/// state is updated by it once on every rank that has it, or on its owner if
/// forwards gather it (checkGathers); accumulators are cleared.
void checkUpdate(const Model &model, Report &report);

/// What products read packed is what the forward of the microbatch that runs
/// first packed in the same step, of the weight, sizes and type that it says,
/// in bytes of its own, as many as the device's kernel makes of it.
void checkPacked(const Model &model, Report &report);

/// Parameters that `apply` leaves in shards are gathered over dp, whole buckets
/// at a time, once in each entry and before the first op that reads them.
void checkGathers(const Model &model, Report &report);

/// Kernels and zeros of `apply` are guarded, and no others: a step without its
/// update leaves them out.
void checkGuards(const Model &model, Report &report);

/// What continues a product does to its elements, and to no byte that the
/// product has yet to read or write, what it would do behind it.
void checkContinuations(const Model &model, Report &report);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_CHECKS_H

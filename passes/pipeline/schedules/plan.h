//===- plan.h - programs of the ranks of a pipeline -------------*- C++ -*-===//
//
// A plan is what expansion makes of a schedule: per rank a list of computations
// and exchanges, and where every value lies.
//
// Values live in slots of the pools of memory.h, numbered per rank from 0. What
// F saves for B or I is in `saved`, what I saves for W in `split`, what F saves
// for W in `operand`; of microbatches in small slots these are `saved_again`
// and so on. Where two
// virtual stages share a rank nothing is sent: the producer writes straight
// into the receive buffer of the consumer.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_PLAN_H
#define MTC_PASSES_PIPELINE_SCHEDULES_PLAN_H

#include "mtc/runtime/memory.h"
#include "passes/pipeline/schedules/asap.h"

#include <variant>

namespace mtc::schedules {

/// A slot of a pool; slot -1 is not assigned yet.
struct Operand {
  MtcPool pool = MTC_POOL_RECV_ACTIVATION;
  int slot = -1;
  auto operator<=>(const Operand &) const = default;
};

/// The name of what lies in a slot: of `microbatch`, made by virtual stage `u`.
struct Value {
  MtcPool pool = MTC_POOL_RECV_ACTIVATION;
  int microbatch = 0;
  int u = 0;
  auto operator<=>(const Value &) const = default;
};

std::string toString(const Value &value);

/// Runs one slot of the schedule. Operands are in the order of valuesOf.
struct Compute {
  Slot slot;
  std::vector<Operand> reads, writes;
  /// What its microbatch keeps here lies in small slots (Shape::smallSlots).
  bool isSmall = false;
};

/// One side of a transfer. `virtualStage` is the one that produced the value.
struct Transfer {
  bool send = true;
  CrossingName name;
  int microbatch = 0;
  int virtualStage = 0;
  int peer = 0;      ///< rank in the pipeline
  int64_t bytes = 0; ///< of the whole tensor
  Operand buffer;
};

/// What an exchange does with its transfers: all of it, as one atomic group; or
/// it posts them and goes on; or it waits until those have ended that were
/// posted before.
enum class Part : uint8_t { Whole, Post, Wait };

/// A group of transfers, in an order in which a backend may also run them one
/// by one. One that is posted ends when both sides have posted it and those
/// before it in its channel (the transfers from its source to its target) have
/// ended. From post to wait nobody writes what is sent, or touches where it is
/// received.
struct Exchange {
  std::vector<Transfer> transfers;
  Part part = Part::Whole;
};

using Item = std::variant<Compute, Exchange>;
using PoolCounts = std::vector<int>; ///< slots per pool

/// Programs and pool sizes per rank (= stage) of the pipeline.
struct Plan : Shape {
  std::vector<std::vector<Item>> ranks;
  std::vector<PoolCounts> pools; ///< each of crossings.poolCount()
};

/// The values that a slot reads and writes, in operand order:
///   F  reads recv_activation                        writes saved,
///                                                   send_activation
///   B  reads saved, recv_activation, recv_gradient  writes send_gradient
///   I  reads the same                               writes send_gradient,
///   split W  reads split, recv_activation
/// and where the shape says so F also writes operand, which the others read, or
/// they do not read recv_activation;
/// where recv_activation stands for all activations that cross to its virtual
/// stage, in the order of their names, and the other three likewise. In a chain
/// the first virtual stage has no recv_activation and send_gradient, the last
/// no recv_gradient and send_activation. With `isSmall` it is saved_again for
/// saved, and so on. Expects a slot in range.
struct SlotValues {
  std::vector<Value> reads, writes;
};
SlotValues valuesOf(const Shape &shape, int stage, const Slot &slot,
                    bool isSmall = false);

/// Empty, "post" or "wait".
std::string_view name(Part part);

/// What a transfer reads (send) or writes (receive) on its own rank.
Value valueOf(const Transfer &transfer);

/// The tag by which the two sides of a transfer agree: `a1.0` is the activation
/// of microbatch 1 produced by virtual stage 0, `g1.3` a gradient, `a1.0.2` the
/// second further value.
std::string tagOf(const Transfer &transfer);

/// One line per rank: `F0 {>1:a0.0@0} ...`; > send, < receive, @ slot; `post{`
/// and `wait{` where an exchange is not whole.
std::string printItem(const Item &item, int chunks);
std::string printProgram(const Plan &plan, int rank);
std::string printPlan(const Plan &plan);

/// The timelines that the computations of a plan form.
Schedule scheduleOf(const Plan &plan);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_PLAN_H

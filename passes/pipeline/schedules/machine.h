//===- machine.h - programs of all ranks, and how they match ----*- C++ -*-===//
//
// The whole machine, tensor and data parallel ranks too, as the wait-for check
// sees it: computations, exchanges (atomic groups of transfers) and collectives
// on communicators. Nothing here knows schedules; tags are any text.
//
// Matching has no wildcards: the k-th send from a to b goes with the k-th
// receive of b from a; the n-th collective of each member of a communicator are
// one.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_MACHINE_H
#define MTC_PASSES_PIPELINE_SCHEDULES_MACHINE_H

#include "passes/pipeline/schedules/plan.h"

namespace mtc::schedules {

/// One side of a transfer; `peer` is a rank of the machine.
struct MachineTransfer {
  bool send = true;
  int peer = 0;
  int64_t bytes = 0;
  std::string tag;
};

/// A call of a collective on `communicator` (index in Machine::communicators).
struct CollectiveCall {
  int communicator = 0;
  std::string op;    ///< for example all-reduce
  std::string type;  ///< for example f32
  int64_t count = 0; ///< elements
};

/// One item of a rank's program. `cost` is its time (compute, collective).
struct MachineItem {
  enum class Type : uint8_t { Compute, Exchange, Collective };
  Type type = Type::Compute;
  std::string label; ///< of a computation
  int64_t cost = 0;
  std::vector<MachineTransfer> transfers;
  CollectiveCall collective;
  Part part = Part::Whole; ///< of an exchange

  static MachineItem compute(std::string label, int64_t cost = 0);
  static MachineItem exchange(std::vector<MachineTransfer> transfers,
                              Part part = Part::Whole);
  static MachineItem collect(CollectiveCall call, int64_t cost = 0);
};

/// A group of ranks that issue collectives together.
struct MachineCommunicator {
  std::string name;
  std::vector<int> members;
};

struct Machine {
  std::vector<std::vector<MachineItem>> ranks; ///< programs
  std::vector<MachineCommunicator> communicators;
};

/// A transfer of a program: ranks[rank][item].transfers[op].
struct OpRef {
  int rank = 0, item = 0, op = 0;
  auto operator<=>(const OpRef &) const = default;
};

/// A send and its receive.
struct Pair {
  OpRef send, receive;
};

/// The `ordinal`-th collective of a communicator with the (rank, item) of its
/// calls.
struct CollectiveInstance {
  int communicator = 0;
  int ordinal = 0;
  std::vector<std::pair<int, int>> calls;
};

/// A transfer of an exchange that waits, and where it was posted.
struct Awaited {
  OpRef wait, post;
};

/// What goes with what. `complete` is false when something has no partner: then
/// no wait-for graph exists.
struct Matching {
  std::vector<Pair> pairs;
  std::vector<CollectiveInstance> collectives;
  std::vector<Awaited> awaited;
  Findings findings;
  bool complete = true;
};

/// Matches all transfers and collectives. Findings:
///   peer              a peer that is no other rank
///   unpaired          numbers of sends and receives of a channel differ
///   pair-order        two sides of a pair with different tags
///   pair-size         with different sizes
///   posted-twice      a transfer posted again before a wait for it
///   unposted          a wait for what was not posted
///   unwaited          what was posted, and nobody waits for
///   posted-limit      more transfers of a channel that one rank has posted
///                     and not ended than MTC_MOST_POSTED
///   members           a communicator whose members are not distinct ranks, or
///   a
///                     call by a rank that is none of them
///   collective-count, collective-order, collective-size, collective-type
///                     members that differ in number, operation, count, type
Matching matchMachine(const Machine &machine);

/// The machine that runs its programs `steps` times in a row.
Machine repeatSteps(const Machine &machine, int steps);

/// The machine of a pipeline alone: rank = stage.
Machine machineOf(const Plan &plan, const Costs &costs = {});

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_MACHINE_H

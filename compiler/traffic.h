//===- traffic.h - what a rank moves in a step ------------------*- C++ -*-===//
#ifndef MTC_COMPILER_TRAFFIC_H
#define MTC_COMPILER_TRAFFIC_H

#include "compiler/plan.h"

#include <map>

namespace mtc::compiler {

struct Traffic {
  int64_t calls = 0, bytes = 0;
  int64_t ringBytes = 0; ///< times the passes of a ring; of sends 0
  void add(const Traffic &more) {
    calls += more.calls;
    bytes += more.bytes;
    ringBytes += more.ringBytes;
  }
};

/// Bytes of collectives are those of their buffer on one rank.
struct StepTraffic {
  struct Group {
    Traffic all;
    std::map<std::string, Traffic> kinds; ///< all_reduce and the like
  };
  std::map<std::string, Group> groups;
  std::map<int64_t, Traffic> sendsTo; ///< by the stage that receives
};

/// What one rank of the stage moves in one step of training.
StepTraffic trafficOfStep(const ProgramPlan &program);

} // namespace mtc::compiler
#endif // MTC_COMPILER_TRAFFIC_H

//===- fault.cpp - faults in words ----------------------------------------===//
#include "test/cuda/ptx/fault.h"

#include <fmt/format.h>

namespace mtc::ptx {

std::string_view describe(FaultKind kind) {
  switch (kind) {
  case FaultKind::launchShape:
    return "launch shape";
  case FaultKind::launchParameters:
    return "launch parameters";
  case FaultKind::nullPointer:
    return "null pointer";
  case FaultKind::outOfBounds:
    return "out of bounds";
  case FaultKind::useAfterFree:
    return "use after free";
  case FaultKind::misaligned:
    return "misaligned";
  case FaultKind::uninitialised:
    return "uninitialised";
  case FaultKind::pendingCopy:
    return "pending copy";
  case FaultKind::pendingProduct:
    return "pending product";
  case FaultKind::missingFence:
    return "missing fence";
  case FaultKind::warpgroupMismatch:
    return "warpgroup mismatch";
  case FaultKind::matrixDescriptor:
    return "matrix descriptor";
  case FaultKind::readOnly:
    return "read-only";
  case FaultKind::unwrittenRegister:
    return "unwritten register";
  case FaultKind::sharedRace:
    return "race in shared memory";
  case FaultKind::globalRace:
    return "race in global memory";
  case FaultKind::operationRace:
    return "race of operations";
  case FaultKind::divergentBarrier:
    return "divergent barrier";
  case FaultKind::barrierMismatch:
    return "barrier mismatch";
  case FaultKind::missingLanes:
    return "missing lanes";
  case FaultKind::memberMask:
    return "member mask";
  case FaultKind::laneSource:
    return "lane source";
  case FaultKind::trap:
    return "trap";
  case FaultKind::endless:
    return "endless";
  }
  return "fault";
}

std::string describe(const Fault &fault) {
  std::string where;
  if (!fault.kernel.empty()) {
    where = fmt::format("{}: block ({}, {}, {})", fault.kernel, fault.block.x,
                        fault.block.y, fault.block.z);
    if (fault.lane >= 0)
      where += fmt::format(", thread ({}, {}, {})", fault.thread.x,
                           fault.thread.y, fault.thread.z);
    where += ": ";
  }
  std::string line;
  if (fault.line > 0)
    line = fmt::format("\n  line {}: {}", fault.line, fault.text);
  return fmt::format("{}{}: {}{}", where, describe(fault.kind), fault.sentence,
                     line);
}

} // namespace mtc::ptx

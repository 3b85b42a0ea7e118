//===- fault.h - what a program of the device did wrong ---------*- C++ -*-===//
//
// A fault is a value: what happened, where in the grid and where in the text.
// The first one ends a launch.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_FAULT_H
#define MTC_TEST_CUDA_PTX_FAULT_H

#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::ptx {

/// Three extents or three coordinates, of a grid or of a block.
struct Extent {
  uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Extent &) const = default;
};

enum class FaultKind {
  launchShape,       ///< grid, block or shared memory that no device takes
  launchParameters,  ///< other bytes than the kernel has parameters
  nullPointer,       ///< an address in the first 64 KiB
  outOfBounds,       ///< no allocation, variable or parameter holds the bytes
  useAfterFree,      ///< an allocation held the bytes once
  misaligned,        ///< an address that is no multiple of the access
  uninitialised,     ///< memory is read that nothing has written
  pendingCopy,       ///< bytes of an asynchronous copy, touched before its wait
  pendingProduct,    ///< what a wgmma has, touched before its wait
  missingFence,      ///< a wgmma that no fence orders behind what it reads
  warpgroupMismatch, ///< warps or lanes whose wgmmas are not the same
  matrixDescriptor,  ///< of no tile that wgmma can read
  readOnly,          ///< a store to constant memory
  unwrittenRegister, ///< a register is read that its lane has not written
  sharedRace,        ///< two threads of a block, shared memory, no barrier
  globalRace,        ///< two threads of one launch, global memory
  operationRace,     ///< two operations that nothing orders
  divergentBarrier,  ///< a barrier that part of a warp cannot reach
  barrierMismatch,   ///< a barrier that is never complete, or two counts
  missingLanes,      ///< lanes of a member mask that will not come
  memberMask,        ///< a lane executes what its mask leaves out
  laneSource,        ///< a value is asked of a lane that does not take part
  trap,              ///< trap, or a failed check of the program itself
  endless,           ///< more instructions than the launch may take
};

/// "out of bounds" and so on: a kind in words.
std::string_view describe(FaultKind kind);

struct Fault {
  FaultKind kind;
  std::string sentence;    ///< what happened, lower case, without a full stop
  std::string kernel = {}; ///< empty: no kernel did it
  Extent block{0, 0, 0};
  Extent thread{0, 0, 0};
  int lane = -1; ///< of its warp; -1: the warp, the block or the launch did it
  int line = 0;  ///< of the program's text, from 1; 0: no line of it
  std::string text = {}; ///< that line, without margins
};

/// All of it, in one or two lines.
std::string describe(const Fault &fault);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_FAULT_H

//===- observer.h - who looks at a warp at work -----------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_OBSERVER_H
#define MTC_TEST_CUDA_PTX_MACHINE_OBSERVER_H

#include "test/cuda/ptx/machine/block.h"

namespace mtc::ptx {

/// Told of what a launch executes, in the order in which it does.
class Observer {
public:
  virtual ~Observer() = default;
  /// A launch begins.
  virtual void begin() = 0;
  /// Lanes `active` of a warp, at least one, execute Code::instructions[pc].
  virtual void before(Warp &warp, uint32_t pc, uint32_t active) = 0;
  /// They have; the warp's own pc is the next one's.
  virtual void after(Warp &warp, uint32_t pc, uint32_t active) = 0;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_OBSERVER_H

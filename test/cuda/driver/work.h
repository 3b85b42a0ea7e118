//===- work.h - what a stream can be told to do -----------------*- C++ -*-===//
//
// One piece of work, with its arguments by value. The same object is what a
// call puts into a stream and what a captured call leaves in a graph; each run
// is a run of a clone.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_DRIVER_WORK_H
#define MTC_TEST_CUDA_DRIVER_WORK_H

#include "test/cuda/driver/cuda_api.h"
#include "test/cuda/ptx/fault.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mtc::standin {

enum class Progress { done, again };

class Work {
public:
  virtual ~Work() = default;

  /// For messages: "kernel axpy", "copy of 64 bytes to the device".
  virtual std::string name() const = 0;
  /// All that it does depends on, but for what memory holds and for addresses
  /// of the host: of a kernel its launch and parameters.
  virtual std::string facts() const { return name(); }
  virtual CUgraphNodeType type() const = 0;
  virtual std::unique_ptr<Work> clone() const = 0;

  /// In which it runs; null: in that of the stream that it comes to.
  CUcontext context = nullptr;

  /// Of which devices' memory it may touch, a bit each: that of its own, and of
  /// those that its context reaches as peers.
  virtual uint64_t reach() const;

  /// Called in program order, when this enters a stream: by the call itself,
  /// or by the launch of a graph.
  virtual void start() {}
  /// Called when all is done that comes before, again until it is done. A
  /// fault ends the context.
  virtual Progress run(std::optional<ptx::Fault> &fault) = 0;
};

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_WORK_H

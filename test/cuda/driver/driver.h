//===- driver.h - the state behind the driver API ---------------*- C++ -*-===//
//
// Devices, a primary context of each, one lock. Functions of the API are a few
// lines each around `api` of api.h; what they share is here. All but `get` and
// `lock` wants the lock held.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_DRIVER_DRIVER_H
#define MTC_TEST_CUDA_DRIVER_DRIVER_H

#include "test/cuda/driver/address_space.h"
#include "test/cuda/driver/capture.h"
#include "test/cuda/driver/handles.h"
#include "test/cuda/driver/schedule.h"
#include "test/cuda/ptx/trace.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace mtc::standin {

using Lock = std::unique_lock<std::mutex>;

class Driver {
public:
  static Driver &get();

  std::mutex mutex;
  bool initialised = false;
  bool forked = false; ///< from a process that was initialised
  uint64_t calls = 0;  ///< of the API
  /// What a context ended with, which all calls of the process then return.
  CUresult sticky = CUDA_SUCCESS;
  uint64_t graphLaunches = 0, graphNodes = 0; ///< the latter of all launches
  uint64_t instances = 0, instanceNodes = 0;  ///< that were ever made
  std::set<std::string> targets;              ///< of modules that were loaded
  uint64_t refusedCubins = 0;
  /// Launches of which the host did not know that the one before had ended.
  uint64_t graphsAhead = 0;

  ptx::Memory memory;
  AddressSpace space{memory};
  Schedule schedule;
  ptx::LaunchOptions launchOptions;
  /// Of all launches of one kernel, if somebody wants it.
  std::unique_ptr<ptx::Trace> trace;
  std::string tracedKernel;
  ptx::Rules rules;       ///< but for the target, which is a GPU's
  size_t mostDeviceBytes; ///< that this machine lends, of all GPUs

  std::vector<std::unique_ptr<CUctx_st>> contexts; ///< by device
  static thread_local CUcontext current;
  /// This thread is in a host function, which may call nothing.
  static thread_local bool inCallback;

  Registry<CUstream_st> streams;
  Registry<CUevent_st> events;
  Registry<CUmod_st> modules;
  Registry<CUfunc_st> functions;
  Registry<CUgraph_st> graphs;
  Registry<CUgraphNode_st> nodes;
  Registry<CUgraphExec_st> execs;
  Captures captures;

  // Contexts.

  /// The context of a device; null: there is no such device.
  CUcontext contextOf(CUdevice device) const {
    return device >= 0 && size_t(device) < contexts.size()
               ? contexts[size_t(device)].get()
               : nullptr;
  }
  /// Whether this is a context that lives.
  bool isContext(CUcontext context) const;
  bool isAnyRetained() const;
  /// Refuses what belongs to a context while another one is current in this
  /// thread. `what` is for the report.
  CUresult checkCurrent(CUcontext owner, const std::string &what);
  /// Where the operations of this process ran, as a sentence.
  std::string placesOfWork() const;

  // Streams and what is in them.

  CUstream makeStream(CUcontext context, unsigned flags, int priority);
  /// The stream of a handle, special ones included.
  CUresult resolve(CUstream handle, CUstream &stream);
  /// Puts work into a stream, or into the graph that it captures.
  CUresult submit(CUstream stream, std::unique_ptr<Work> work);
  /// Puts work, or a point, into a stream that does not capture.
  OperationPtr enqueue(CUstream stream, std::unique_ptr<Work> work,
                       const std::vector<OperationPtr> &before = {});
  /// What an operation of a stream is behind.
  std::vector<OperationPtr> behind(CUstream stream);
  static bool isLegacy(CUstream stream) {
    return stream == &stream->context->legacy;
  }
  /// Refuses what touches the legacy stream while a stream captures that is
  /// ordered with it.
  CUresult checkLegacy(CUstream stream);

  /// Runs until an operation is done; null: nothing. `known`: the host then
  /// knows its end.
  CUresult wait(const OperationPtr &operation, Lock &lock, bool known = true);
  /// Runs all of a context. `known`: the host then knows.
  CUresult waitAll(CUcontext context, Lock &lock, bool known);

  // Works, while they run.

  /// What touches memory from now on is the operation that runs.
  void begin();
  /// The host's bytes of device-visible memory; null after a fault.
  std::byte *touch(uint64_t address, size_t bytes, ptx::Access access,
                   const std::string &who, std::optional<ptx::Fault> &fault);
  /// Calls a host function, without the lock.
  void callHost(void (*function)(void *), void *data);
  uint64_t hostCalls = 0; ///< of host functions

  /// From now on a thread runs what is pending while nobody calls: a device
  /// goes on, too, while its host waits for another process.
  void startIdleThread();
  bool stopping = false; ///< the process ends

  /// Ends all contexts.
  void fail(CUresult result, const std::string &sentence);
  /// Forgets all objects of a context that is gone; of the last one all that
  /// there are.
  void reset(CUcontext context);

private:
  Driver();
  bool run(Operation &operation, Progress &progress);
  void tellStuck();
  std::string withNames(std::string sentence) const;

  unsigned streamsMade = 0;
  Operation *running = nullptr;
};

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_DRIVER_H

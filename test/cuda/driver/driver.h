//===- driver.h - the state behind the driver API ---------------*- C++ -*-===//
//
// One device, one primary context, one lock. Functions of the API are a few
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
#include "test/cuda/ptx/launch.h"

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
  /// What the context ended with, which all calls then return.
  CUresult sticky = CUDA_SUCCESS;
  uint64_t graphLaunches = 0, graphNodes = 0; ///< the latter of all launches
  std::set<std::string> targets;              ///< of modules that were loaded
  uint64_t refusedCubins = 0;
  /// Launches of which the host did not know that the one before had ended.
  uint64_t graphsAhead = 0;
  OperationPtr lastGraph; ///< its end

  ptx::Memory memory;
  AddressSpace space{memory};
  Schedule schedule;
  ptx::LaunchOptions launchOptions;
  ptx::Rules rules;
  size_t mostDeviceBytes; ///< that this machine lends
  int mostShared;         ///< bytes of a block, as rules.target has it

  CUctx_st primary;
  unsigned retained = 0;
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

  // Streams and what is in them.

  CUstream makeStream(unsigned flags, int priority);
  /// The stream of a handle, special ones included.
  CUresult resolve(CUstream handle, CUstream &stream);
  /// Puts work into a stream, or into the graph that it captures.
  CUresult submit(CUstream stream, std::unique_ptr<Work> work);
  /// Puts work, or a point, into a stream that does not capture.
  OperationPtr enqueue(CUstream stream, std::unique_ptr<Work> work,
                       const std::vector<OperationPtr> &before = {});
  /// What an operation of a stream is behind.
  std::vector<OperationPtr> behind(CUstream stream);
  CUstream legacyStream() { return &legacy; }
  /// Refuses what touches the legacy stream while a stream captures that is
  /// ordered with it.
  CUresult checkLegacy(CUstream stream);

  /// Runs until an operation is done; null: nothing. `known`: the host then
  /// knows its end.
  CUresult wait(const OperationPtr &operation, Lock &lock, bool known = true);
  /// Runs all. `known`: the host then knows.
  CUresult waitAll(Lock &lock, bool known);

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

  /// Ends the context.
  void fail(CUresult result, const std::string &sentence);
  /// Forgets all objects; the context is gone.
  void reset();

private:
  Driver();
  bool run(Operation &operation, Progress &progress);
  void tellStuck();
  std::string withNames(std::string sentence) const;

  CUstream_st legacy;
  std::map<std::thread::id, std::unique_ptr<CUstream_st>> perThread;
  unsigned streamsMade = 0;
  Operation *running = nullptr;
};

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_DRIVER_H

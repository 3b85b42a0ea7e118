//===- communicator.h - one rank's communicator -----------------*- C++ -*-===//
//
// Three kinds of threads meet here: the one that calls, a watchdog
// (asynchronous errors, aborts), and whichever runs operations of the driver,
// which holds the driver's lock. So nothing that a step of an operation takes
// is held while the driver is called.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_NCCL_COMMUNICATOR_H
#define MTC_TEST_CUDA_NCCL_COMMUNICATOR_H

#include "test/cuda/nccl/job.h"
#include "test/cuda/nccl/registered.h"
#include "test/cuda/nccl/shared.h"

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace mtc::standin::nccl {

struct Plan;

enum class Life { joining, ready, finalized, destroyed, aborted };

/// A GPU on which one call of a communicator runs at a time, as where each
/// needs all multiprocessors. Steps of operations use it, under the driver's
/// lock.
struct Device {
  std::set<uint64_t> issued; ///< tickets of runs that have not ended
  uint64_t tickets = 0;      ///< given
  uint64_t holder = 0;       ///< whose turn it is; 0: nobody's
  std::string holds;         ///< its name
};

/// Seconds, for waits.
double now();
/// Follows from MTC_STANDIN_SEED and the process's first rank.
uint64_t draw();

/// Whether a call may use a handle, and why not. `use`: it needs a communicator
/// that is ready.
ncclResult_t check(ncclComm_t comm, const char *who, bool use = true);

/// The name of a communicator with calls under way on a device that has not
/// been aborted; empty: there is none.
std::string whoIsBusy(const Device &device);

/// Whether this is a handle, be it a stale one.
bool isKnown(ncclComm_t comm);

/// Makes a communicator that has not joined, of a GPU by the driver's number of
/// it. `size` 0: rank and size become known later, and nameRank then says them
/// in the name.
ncclComm_t makeCommunicator(int rank, int size, int gpu,
                            const ncclConfig_t *config, ncclComm_t parent);
void nameRank(ncclComm &comm);

/// The name of a communicator of this process that is there and knows some of
/// these bytes; empty: there is none.
std::string whoRegistered(CUdeviceptr from, size_t bytes);

/// A rank that others wait for in vain, in words; empty: none that is known.
std::string whoIsGone(const ncclComm &comm);

} // namespace mtc::standin::nccl

/// Never freed: a stale handle is known as one.
struct ncclComm {
  std::string name; ///< "communicator 2 (tp), rank 0 of 2"
  int number = 0;   ///< in this process, from 1
  int rank = 0, size = 0;
  int gpu = 0; ///< as the driver numbers it
  bool blocking = true;
  mtc::standin::nccl::Device *device = nullptr;
  std::shared_ptr<mtc::standin::nccl::Shared> shared; ///< once it has joined
  std::atomic<mtc::standin::nccl::Life> life{mtc::standin::nccl::Life::joining};
  std::atomic<ncclResult_t> async{ncclSuccess};

  std::mutex mutex; ///< of `job` and `plans`
  std::unique_ptr<mtc::standin::nccl::Job> job;
  std::set<std::shared_ptr<mtc::standin::nccl::Plan>> plans;
  std::atomic<bool> inCall{false};
  std::atomic<int> blockedCalls{0};

  // Of the thread that calls.
  uint64_t splits = 0;
  std::set<CUstream> captures; ///< streams with calls in a capture
  std::set<CUstream> streams;  ///< used outside of captures
  mtc::standin::nccl::Registered registered;
  uint64_t calls = 0, registeredCalls = 0; ///< collectives; of buffers in it

  // Of steps, under the driver's lock; in program order.
  uint64_t collectives = 0; ///< begun
  std::map<int, uint64_t> sends, receives;
  uint64_t runs = 0, runsDone = 0;
  std::atomic<int> open{0}; ///< runs that have not ended
  /// When a run was last asked in vain, and when this rank first saw that
  /// another is gone; seconds.
  std::atomic<double> vainAt{0}, goneAt{0};
};

#endif // MTC_TEST_CUDA_NCCL_COMMUNICATOR_H

//===- schedule.h - runs operations in a random legal order -----*- C++ -*-===//
//
// Operations wait for others and for nothing else. Nothing runs here by itself:
// an operation is early and runs inside the call that makes it possible, or
// late and runs when somebody waits for it. Which one it is, and the order
// among those that may run, follow from the seed.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_DRIVER_SCHEDULE_H
#define MTC_TEST_CUDA_DRIVER_SCHEDULE_H

#include "test/cuda/driver/clock.h"
#include "test/cuda/driver/work.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace mtc::standin {

struct Operation;
using OperationPtr = std::shared_ptr<Operation>;

struct Operation {
  uint64_t id = 0;
  std::string stream;         ///< in words
  unsigned device = 0;        ///< of the stream
  std::unique_ptr<Work> work; ///< null: a point in a stream
  Clock clock;                ///< all that is before this, and this
  uint32_t chain = 0, index = 0;
  bool early = false, done = false, started = false;
  double endedAt = 0;                      ///< seconds, when it is done
  std::vector<OperationPtr> before;        ///< those that are not done
  std::vector<OperationPtr> after;         ///< until it is done
  size_t missing = 0;                      ///< of `before`
  uint64_t wanted = 0;                     ///< by which wait, for the schedule
  std::list<OperationPtr>::iterator place; ///< among the pending ones

  std::string name() const;
};

class Schedule {
public:
  /// `run` runs the work of an operation; false: the context has ended.
  using Run = std::function<bool(Operation &, Progress &)>;
  Schedule(uint64_t seed, Run run);

  /// Puts an operation behind those of `before` and all that the host knows.
  OperationPtr add(std::string stream, unsigned device,
                   std::unique_ptr<Work> work,
                   const std::vector<OperationPtr> &before);
  /// Runs what must run before `target` is done, and that. False: nothing can
  /// run for `patience` seconds. The lock is given up while an operation has to
  /// be asked again.
  bool finish(const OperationPtr &target, std::unique_lock<std::mutex> &lock);
  /// The same for all of a device.
  bool finishAll(unsigned device, std::unique_lock<std::mutex> &lock);
  /// Runs something that `target` waits for, or nothing: a question about a
  /// stream may be answered by "not yet" for some time, not forever. Where
  /// nothing can run, the lock is given up for a moment.
  void nudge(const OperationPtr &target, std::unique_lock<std::mutex> &lock);
  /// Runs anything that can run, or nothing.
  void runSomething();
  /// Forgets all that is pending.
  void abandon();

  /// The host has seen the end of an operation.
  void hostKnows(const Operation &operation) { host.join(operation.clock); }
  void hostKnowsAll(unsigned device) { host.join(all[device]); }
  bool isKnown(const Operation &operation) const {
    return host.of(operation.chain) >= operation.index;
  }

  /// Whether `earlier` has ended before `later` began, in every legal order.
  bool ordered(uint64_t earlier, const Operation &later) const;
  /// "operation 7 (kernel axpy in stream 2)".
  std::string describe(uint64_t id) const;
  bool idle() const { return pending.empty(); }
  bool idle(unsigned device) const {
    auto at = pendingOf.find(device);
    return at == pendingOf.end() || at->second == 0;
  }
  /// What stands at the heads, in words.
  std::string heads() const;

  uint64_t random() { return generator(); }
  double patience = 30; ///< seconds

private:
  void chooseChain(Operation &operation,
                   const std::vector<OperationPtr> &before);
  bool runOne(const OperationPtr &operation);
  bool runAny(uint64_t wanted);
  void ended(const OperationPtr &operation);
  void mark(const OperationPtr &target, uint64_t token);
  /// Runs what `want(token)` marks until `done`.
  bool until(const std::function<bool()> &done,
             const std::function<void(uint64_t)> &want,
             std::unique_lock<std::mutex> &lock);

  struct Place {
    uint32_t chain, index;
    std::string name;
  };
  Run run;
  std::mt19937_64 generator;
  enum class Temper { late, early, mixed } temper;
  uint64_t atOnce; ///< operations that a question runs in the mean, by seed
  Clock host;
  std::map<unsigned, Clock> all;        ///< of a device
  std::map<unsigned, size_t> pendingOf; ///< of a device
  std::vector<uint32_t> lengths;        ///< of chains
  std::vector<Place> places;            ///< by id
  std::list<OperationPtr> pending;
  std::vector<OperationPtr> ready;
  uint64_t token = 0;
  uint64_t nudged = 0, nudgedBy = 0; ///< an operation, and the token of it
  std::chrono::microseconds rest;    ///< after the next question in vain
};

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_SCHEDULE_H

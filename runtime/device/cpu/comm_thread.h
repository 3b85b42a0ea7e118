//===- comm_thread.h - a rank's thread of collectives -----------*- C++ -*-===//
//
// The stream of collectives of a cpu rank is a thread. The other stream is the
// thread that calls: what that was given before is done when it gives more. So
// a collective finds its operand ready, and only the calling thread ever waits
// for an event.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DEVICE_CPU_COMM_THREAD_H
#define MTC_RUNTIME_DEVICE_CPU_COMM_THREAD_H

#include "runtime/comm/comm.h"
#include "runtime/device/comm_stream.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace mtc::runtime {

class CommThread final : public CommStream {
public:
  CommThread();
  /// Waits for what was issued, as finish().
  ~CommThread() override;
  CommThread(const CommThread &) = delete;
  CommThread &operator=(const CommThread &) = delete;

  /// Begins with an empty queue. Errors: infeasible, without a thread.
  Status start();
  /// Before the first collective: whose calls these are. It must outlive this.
  void use(Communicator &backend) { backend_ = &backend; }

  Status collective(const CollectiveCall &call, void *buffer) override;
  void record(int64_t event, int64_t stream) override;
  Status wait(int64_t event, int64_t stream) override;
  Status finish() override;
  void traceTo(std::vector<TraceTime> *times) override;

private:
  struct Work {
    CollectiveCall call;
    void *buffer = nullptr;
  };
  using Lock = std::unique_lock<std::mutex>;

  void run();
  /// Does a call without the lock, unless an earlier one failed.
  void perform(const Work &work, Lock &held);
  Status waitUntil(uint64_t count);
  /// Keeps what is queued, in room for more.
  void grow();

  Communicator *backend_ = nullptr;
  std::mutex lock_; ///< guards all below, but for `events_`
  std::condition_variable given_, ended_;
  std::vector<Work> ring_; ///< call n is at n mod its size
  uint64_t issued_ = 0, done_ = 0;
  uint64_t awaited_ = 0; ///< calls that the other thread sleeps for; 0: awake
  bool idle_ = true;     ///< the thread waits for work
  bool ending_ = false;
  Status failure_;
  std::vector<TraceTime> *times_ = nullptr; ///< of calls, for a trace
  std::vector<uint64_t> events_; ///< by number, calls before it; one thread's
  std::thread thread_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_CPU_COMM_THREAD_H

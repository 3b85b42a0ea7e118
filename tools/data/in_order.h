//===- in_order.h - work of several threads, used in order ------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_IN_ORDER_H
#define MTC_TOOLS_DATA_IN_ORDER_H

#include "runtime/base/status.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace mtc::data {

/// Reads items one after the other, works on several at once, and uses the
/// results one after the other, in the order of the items: what comes of it
/// does not depend on the number of threads. At most two items a thread are in
/// memory.
template <typename Item, typename Result> class InOrder {
public:
  /// The next item; sets `more` to false in place of one at the end. Called
  /// under a lock.
  std::function<runtime::Status(Item &, bool &more)> read;
  /// Called by threads 0 to threads - 1, several at once.
  std::function<Result(Item &, int thread)> work;
  /// Called by the thread that calls run().
  std::function<runtime::Status(Result &)> use;

  /// Ends with the first error, in the order of items; what is read behind it
  /// is not used.
  runtime::Status run(int threads) {
    window_ = 2 * static_cast<int64_t>(threads);
    std::vector<std::thread> workers;
    runtime::Status status = start(threads, workers);
    if (status.ok())
      status = useAll();
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    room_.notify_all();
    for (std::thread &worker : workers)
      worker.join();
    return status;
  }

private:
  /// Fewer threads than asked for are enough. Errors: failed, if there is none.
  runtime::Status start(int threads, std::vector<std::thread> &workers) {
    try {
      for (int thread = 0; thread < threads; ++thread)
        workers.emplace_back([this, thread] { workAs(thread); });
    } catch (const std::system_error &error) {
      if (workers.empty())
        return {runtime::StatusCode::failed,
                std::string("cannot start a thread: ") + error.what() +
                    "; check `ulimit -u` and `ulimit -v`"};
    }
    return runtime::Status::okay();
  }

  /// A number for the next item, or false when there is none for this thread.
  bool take(Item &item, int64_t &number) {
    std::unique_lock lock(mutex_);
    room_.wait(lock,
               [&] { return stopped_ || ended_ || next_ < used_ + window_; });
    if (stopped_ || ended_)
      return false;
    bool more = true;
    status_ = read(item, more);
    ended_ = !status_.ok() || !more;
    if (ended_) {
      room_.notify_all();
      ready_.notify_all();
      return false;
    }
    number = next_++;
    return true;
  }

  void workAs(int thread) {
    Item item;
    for (int64_t number = 0; take(item, number);) {
      Result result = work(item, thread);
      std::lock_guard lock(mutex_);
      results_.emplace(number, std::move(result));
      ready_.notify_all();
    }
  }

  runtime::Status useAll() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ready_.wait(lock, [&] {
        return results_.contains(used_) || (ended_ && used_ == next_);
      });
      if (!results_.contains(used_))
        return status_;
      Result result = std::move(results_.extract(used_).mapped());
      ++used_;
      room_.notify_all();
      lock.unlock();
      MTC_RETURN_IF_ERROR(use(result));
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable room_, ready_;
  int64_t window_ = 2, next_ = 0, used_ = 0;
  bool ended_ = false, stopped_ = false;
  runtime::Status status_ = runtime::Status::okay();
  std::map<int64_t, Result> results_;
};

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_IN_ORDER_H

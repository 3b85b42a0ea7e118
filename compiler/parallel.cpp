//===- parallel.cpp - independent jobs on a few threads -------------------===//

#include "compiler/parallel.h"

#include <atomic>
#include <thread>
#include <vector>

using mtc::runtime::Status;

namespace mtc::compiler {

Status forEachJob(size_t count, int threads,
                  const std::function<Status(size_t)> &job) {
  std::vector<Status> results(count);
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < count;)
      results[i] = job(i);
  };
  std::vector<std::jthread> pool;
  for (int i = 1; i < threads && i < static_cast<int>(count); ++i)
    pool.emplace_back(work);
  work();
  pool.clear(); // joins
  for (Status &status : results)
    MTC_RETURN_IF_ERROR(std::move(status));
  return Status::okay();
}

} // namespace mtc::compiler

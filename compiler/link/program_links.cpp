//===- program_links.cpp - links beside the making of objects -------------===//

#include "compiler/link/program_links.h"

#include <algorithm>

using mtc::runtime::Status;

namespace mtc::compiler {

ProgramLinks::ProgramLinks(const Toolchain &toolchain, std::vector<LinkJob> all,
                           LinkHelpers *helpers)
    : toolchain(toolchain), jobs(std::move(all)), helpers(helpers),
      results(jobs.size()) {
  size_t count = helpers ? std::min(helpers->size(), jobs.size()) : 0;
  threads.reserve(count);
  try {
    for (size_t i = 0; i < count; ++i)
      threads.emplace_back([this, i] { serve(i); });
  } catch (...) { // no thread to be had: those that are there end first
    complete(/*drop=*/true);
    join();
    throw;
  }
}

ProgramLinks::~ProgramLinks() {
  complete(/*drop=*/true);
  join();
}

void ProgramLinks::ready(size_t job) {
  std::lock_guard lock(mutex);
  waiting.push_back(job);
  changed.notify_one();
}

std::optional<size_t> ProgramLinks::next() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return isComplete || !waiting.empty(); });
  if (waiting.empty() || isDropped)
    return std::nullopt;
  size_t job = waiting.front();
  waiting.pop_front();
  return job;
}

void ProgramLinks::serve(size_t helper) {
  while (std::optional<size_t> job = next()) {
    Status status = helpers->link(helper, jobs[*job]);
    if (status.ok())
      continue;
    {
      std::lock_guard lock(mutex);
      results[*job] = std::move(status);
    }
    return complete(/*drop=*/true);
  }
}

void ProgramLinks::complete(bool drop) {
  std::lock_guard lock(mutex);
  isComplete = true;
  isDropped |= drop;
  changed.notify_all();
}

void ProgramLinks::join() {
  for (std::thread &thread : threads)
    thread.join();
  threads.clear();
}

Status ProgramLinks::finish() {
  bool isHere = threads.empty();
  complete(/*drop=*/isHere);
  join();
  if (isHere)
    for (const LinkJob &job : jobs)
      MTC_RETURN_IF_ERROR(linkProgram(toolchain, job));
  for (Status &status : results)
    MTC_RETURN_IF_ERROR(std::move(status));
  return Status::okay();
}

} // namespace mtc::compiler

//===- program_links.h - links beside the making of objects -----*- C++ -*-===//
#ifndef MTC_COMPILER_LINK_PROGRAM_LINKS_H
#define MTC_COMPILER_LINK_PROGRAM_LINKS_H

#include "compiler/link/helpers.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace mtc::compiler {

/// Links programs, each as soon as its objects are there, in helpers; without
/// any, in this process and behind the last object.
class ProgramLinks {
public:
  /// `helpers` may be null.
  ProgramLinks(const Toolchain &toolchain, std::vector<LinkJob> jobs,
               LinkHelpers *helpers);
  /// Without `finish`, links that have not begun are not made.
  ~ProgramLinks();

  /// All objects of a job are there. Safe to call from several threads.
  void ready(size_t job);

  /// Every job is ready: waits until all are linked. After an error no further
  /// link is begun; the error is that of the first in order that failed.
  runtime::Status finish();

private:
  std::optional<size_t> next();
  void serve(size_t helper);
  void complete(bool drop);
  void join();

  const Toolchain &toolchain;
  std::vector<LinkJob> jobs;
  LinkHelpers *helpers;
  std::mutex mutex; ///< of what follows
  std::condition_variable changed;
  std::deque<size_t> waiting;
  std::vector<runtime::Status> results; ///< by job
  bool isComplete = false;              ///< no job becomes ready any more
  bool isDropped = false;               ///< those that wait are not linked
  std::vector<std::thread> threads;     ///< one waits for each helper
};

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINK_PROGRAM_LINKS_H

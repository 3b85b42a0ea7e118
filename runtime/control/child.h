//===- child.h - one rank as a child process --------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_CHILD_H
#define MTC_RUNTIME_CONTROL_CHILD_H

#include "runtime/control/outcome.h"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mtc::runtime {

/// A rank's process and the pipe of its standard error. The child dies with its
/// parent. The destructor kills and reaps what still runs.
class Child {
public:
  Child() = default;
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;
  ~Child();

  /// Starts `program` with `environment` ("NAME=value"). Errors: failed.
  Status start(int rank, const std::string &program,
               const std::vector<std::string> &environment,
               const std::vector<std::string> &arguments = {});

  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; } ///< -1: ended
  void signal(int number) const;
  /// The pipe to poll; -1 after its end.
  int pipe() const { return pipe_; }
  /// Passes on what the pipe holds, line by line with "[rank N] " before each.
  /// Call it when poll says so. Why a rank ends is passed on once it has, but
  /// not that it was asked to: all say the same, and so does who started them.
  void forward();
  /// The outcome once the process has ended; nothing while it runs.
  std::optional<RankOutcome> reap();

private:
  void passLine(const std::string &line);
  void passHeld();
  void pass(const std::string &line);
  RankOutcome outcome(int waitStatus);

  int rank_ = 0;
  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string partial_;   ///< a line that is not complete yet
  bool stuck_ = false;    ///< standard error took no line
  std::string lastError_; ///< what the rank said after "error: "
  std::string held_;      ///< that line, as long as it is the last one
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_CHILD_H

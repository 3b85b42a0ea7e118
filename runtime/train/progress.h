//===- progress.h - how far a run is, for people ----------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_PROGRESS_H
#define MTC_RUNTIME_TRAIN_PROGRESS_H

#include <chrono>
#include <string_view>

namespace mtc::runtime {

/// On a terminal one line that is written again, at most ten times a second;
/// elsewhere a line every ten seconds. A failing write is ignored, and what
/// would have to wait is not shown.
class ProgressLine {
public:
  /// `fd` is the caller's; -1: nothing is shown. `rewrites`: a terminal.
  /// Nothing is shown in the first `delay`.
  ProgressLine(int fd, bool rewrites, std::chrono::milliseconds delay = {});
  /// Ends a line that was written again.
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  bool shown() const { return fd_ >= 0; }
  /// Whether it is time for another line.
  bool due() const;
  void
  print(std::string_view text); ///< without a line's end; allocates nothing

private:
  using Clock = std::chrono::steady_clock;
  int fd_;
  bool rewrites_, open_ = false;
  Clock::time_point next_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_PROGRESS_H

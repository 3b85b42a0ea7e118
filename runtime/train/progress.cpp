//===- progress.cpp - how far a run is, for people ------------------------===//

#include "runtime/train/progress.h"

#include "runtime/base/file.h"

#include <sys/ioctl.h>

namespace mtc::runtime {

using std::chrono::milliseconds;

/// What fits a row of the terminal: a line that is wrapped cannot be written
/// again.
static std::string_view ofOneRow(int fd, std::string_view text) {
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
    return text;
  return text.substr(0, size.ws_col - 1u);
}

ProgressLine::ProgressLine(int fd, bool rewrites, milliseconds delay)
    : fd_(fd), rewrites_(rewrites), next_(Clock::now() + delay) {}

ProgressLine::~ProgressLine() {
  if (open_ && isWritable(fd_, 0))
    (void)writeAll(fd_, "\n");
}

bool ProgressLine::due() const { return shown() && Clock::now() >= next_; }

void ProgressLine::print(std::string_view text) {
  if (!shown() || !isWritable(fd_, 0))
    return;
  next_ = Clock::now() + milliseconds(rewrites_ ? 100 : 10'000);
  // The line before is cleared first: it may be longer.
  if (rewrites_)
    (void)writeAll(fd_, "\r\033[K");
  (void)writeAll(fd_, rewrites_ ? ofOneRow(fd_, text) : text);
  if (!rewrites_)
    (void)writeAll(fd_, "\n");
  open_ = rewrites_;
}

} // namespace mtc::runtime

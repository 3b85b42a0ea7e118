//===- metrics.cpp - the step log and the progress line -------------------===//

#include "runtime/train/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

/// Appends to a fixed buffer; what does not fit is left out.
class Text {
public:
  explicit Text(std::span<char> buffer) : buffer_(buffer) {}

  template <typename... Args>
  Text &add(fmt::format_string<Args...> format, Args &&...args) {
    auto result =
        fmt::format_to_n(buffer_.data() + size_, buffer_.size() - size_, format,
                         std::forward<Args>(args)...);
    size_ = std::min(buffer_.size(), size_ + result.size);
    return *this;
  }

  /// Not finite has no JSON number. The subtraction is NaN for both kinds.
  template <typename Number> Text &number(const char *key, Number value) {
    return value - value == 0 ? add(", \"{}\": {}", key, value)
                              : add(", \"{}\": null", key);
  }

  std::string_view view() const { return {buffer_.data(), size_}; }

private:
  std::span<char> buffer_;
  size_t size_ = 0;
};

/// Tries once more after an interruption; false when the text is lost.
bool writeAll(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

} // namespace

std::string_view formatStep(const StepRecord &r, std::span<char> buffer) {
  Text text(buffer);
  text.add("{{\"step\": {}", r.step);
  text.number("loss", r.loss).number("grad_norm", r.gradNorm);
  text.number("lr", r.lr).add(", \"tokens\": {}", r.tokens);
  text.number("tokens_per_s", r.tokensPerSecond);
  text.number("step_ms", r.milliseconds).add("}}\n");
  return text.view();
}

std::string_view formatProgress(const StepRecord &r, int64_t steps,
                                std::span<char> buffer) {
  Text text(buffer);
  int64_t eta = static_cast<int64_t>(r.milliseconds / 1000 *
                                     static_cast<double>(steps - r.step));
  text.add("step {}/{}  loss {:.4f}  {:.0f} tokens/s  ETA ", r.step, steps,
           r.loss, r.tokensPerSecond);
  if (eta >= 3600)
    text.add("{}h{:02}m", eta / 3600, eta / 60 % 60);
  else
    text.add("{}m{:02}s", eta / 60, eta % 60);
  return text.view();
}

StepLog::~StepLog() {
  if (fd_ >= 0)
    close(fd_);
}

Status StepLog::open(const std::string &path) {
  if (path.empty())
    return Status::okay();
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  path_ = path;
  if (fd_ < 0)
    return {StatusCode::writeFailed, fmt::format("cannot write log '{}': {}",
                                                 path, std::strerror(errno))};
  return Status::okay();
}

void StepLog::line(std::string_view text) {
  if (fd_ < 0)
    return;
  ++lines_;
  if (writeAll(fd_, text)) {
    bytes_ += static_cast<int64_t>(text.size());
    return;
  }
  error_ = errno;
  ++dropped_;
  // Half a line would spoil the next one, and readers. A pipe has no such end.
  if (ftruncate(fd_, bytes_) == 0)
    (void)lseek(fd_, bytes_, SEEK_SET);
}

Status StepLog::status() const {
  if (dropped_ == 0)
    return Status::okay();
  return {StatusCode::writeFailed,
          fmt::format("cannot write log '{}': {}; {} of {} lines are lost, the "
                      "training went on without them",
                      path_, std::strerror(error_), dropped_, lines_)};
}

Progress::~Progress() {
  if (open_)
    (void)writeAll(fd_, "\n");
}

void Progress::show(const StepRecord &record) {
  if (fd_ < 0)
    return;
  auto now = std::chrono::steady_clock::now();
  bool last = record.step == steps_;
  if (rewrites_ && !last && now - last_ < std::chrono::milliseconds(100))
    return;
  last_ = now;
  char buffer[256];
  if (rewrites_)
    (void)writeAll(fd_, "\r\033[K");
  (void)writeAll(fd_, formatProgress(record, steps_, buffer));
  if (!rewrites_)
    (void)writeAll(fd_, "\n");
  open_ = rewrites_;
}

} // namespace mtc::runtime

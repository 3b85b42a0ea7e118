//===- metrics.cpp - the step log and the progress line -------------------===//

#include "runtime/train/metrics.h"

#include "runtime/base/file.h"
#include "runtime/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
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
  template <typename Number> void entry(const char *key, Number value) {
    startEntry(key);
    if (value - value == 0)
      add("{}", value);
    else
      add("null");
  }

  template <typename Number>
  void entry(const char *key, const std::optional<Number> &value) {
    if (value)
      entry(key, *value);
  }

  /// Nothing, if the value is empty.
  void entry(const char *key, std::string_view value) {
    if (value.empty())
      return;
    startEntry(key);
    add("{}", Json(value).dump(-1, ' ', false, kReplace));
  }

  std::string_view view() const { return {buffer_.data(), size_}; }

private:
  /// Names may be of any bytes; JSON is UTF-8.
  static constexpr auto kReplace = Json::error_handler_t::replace;

  void startEntry(const char *key) {
    add("{}\"{}\": ", size_ == 0 ? "{" : ", ", key);
  }

  std::span<char> buffer_;
  size_t size_ = 0;
};

/// One line, newline included.
template <typename Record>
std::string_view formatLine(std::span<const LogField<Record>> fields,
                            const Record &record, std::span<char> buffer) {
  Text text(buffer);
  for (const LogField<Record> &field : fields)
    std::visit([&](auto member) { text.entry(field.key, record.*member); },
               field.member);
  text.add("}}\n");
  return text.view();
}

} // namespace

std::string_view formatStep(const StepRecord &record, std::span<char> buffer) {
  return formatLine(stepFields(), record, buffer);
}

std::string_view formatEvaluation(const EvaluationRecord &record,
                                  std::span<char> buffer) {
  return formatLine(evaluationFields(), record, buffer);
}

std::string_view formatProgress(const EvaluationRecord &r, int64_t steps,
                                std::span<char> buffer) {
  return Text(buffer)
      .add("step {}/{}  evaluation: loss {:.4f}  perplexity {:.4g}", r.step,
           steps, r.loss, r.perplexity)
      .view();
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

void StepLog::attach(int fd, const std::string &path, bool alone) {
  fd_ = fd;
  path_ = path;
  alone_ = alone;
  bytes_ = std::max<int64_t>(0, lseek(fd, 0, SEEK_CUR)); // a pipe has none
}

bool StepLog::waitForRoom() {
  stuck_ = !isWritable(fd_, stuck_ ? 0 : kPatience);
  if (stuck_)
    errno = EAGAIN;
  return !stuck_;
}

void StepLog::line(std::string_view text) {
  if (fd_ < 0)
    return;
  ++lines_;
  if (waitForRoom() && writeAll(fd_, text)) {
    bytes_ += static_cast<int64_t>(text.size());
    return;
  }
  error_ = errno;
  ++dropped_;
  // Half a line would spoil the next one, and readers.
  if (alone_ && ftruncate(fd_, bytes_) == 0)
    (void)lseek(fd_, bytes_, SEEK_SET);
}

Status StepLog::status() const {
  if (dropped_ == 0)
    return Status::okay();
  return {StatusCode::writeFailed,
          fmt::format("cannot write log '{}': {}; {} of {} lines are lost, the "
                      "training went on without them",
                      path_,
                      error_ == EAGAIN ? "nobody takes its lines"
                                       : std::strerror(error_),
                      dropped_, lines_)};
}

} // namespace mtc::runtime

//===- metrics.cpp - the step log and the progress line -------------------===//

#include "runtime/train/metrics.h"

#include "runtime/base/file.h"
#include "runtime/base/fixed_text.h"
#include "runtime/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace mtc::runtime {
namespace {

/// Entries of a JSON object.
class Text : public FixedText {
public:
  using FixedText::FixedText;

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

  void entry(const char *key, JsonText value) {
    if (value.text.empty())
      return;
    startEntry(key);
    add("{}", value.text);
  }

private:
  /// Names may be of any bytes; JSON is UTF-8.
  static constexpr auto kReplace = Json::error_handler_t::replace;

  void startEntry(const char *key) {
    add("{}\"{}\": ", view().empty() ? "{" : ", ", key);
  }
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

/// "1h02m", "3m05s".
void addTime(Text &text, double seconds) {
  auto s = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e15));
  if (s >= 3600)
    text.add("{}h{:02}m", s / 3600, s / 60 % 60);
  else
    text.add("{}m{:02}s", s / 60, s % 60);
}

} // namespace

std::string formatRun(const RunRecord &record) {
  // The recipe names files, of any number.
  for (size_t room = 1 << 12;; room *= 2) {
    std::vector<char> buffer(room);
    std::string_view line = formatLine(runFields(), record, buffer);
    if (line.size() < room)
      return std::string(line);
  }
}

std::string withGemms(const std::string &line, std::string_view json) {
  static constexpr std::string_view kEnd = "}\n";
  if (json.empty() || !line.ends_with(kEnd))
    return line;
  return fmt::format("{}, \"{}\": {}{}",
                     line.substr(0, line.size() - kEnd.size()),
                     runFields().back().key, json, kEnd);
}

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
  text.add("step {}/{}  loss {:.4f}  {:.0f} tokens/s  ETA ", r.step, steps,
           r.loss, r.tokensPerSecond);
  addTime(text, r.milliseconds / 1000 * static_cast<double>(steps - r.step));
  text.add("  grad norm {:.3f}  lr {:.2e}", r.gradNorm, r.lr);
  if (r.tflops)
    text.add("  {:.3g} TFLOP/s a rank", *r.tflops);
  if (r.mfu)
    text.add("  MFU {:.1f} %", 100 * *r.mfu);
  if (r.residentBytes > 0)
    text.add("  {:.0f} MiB", static_cast<double>(r.residentBytes) / (1 << 20));
  return text.view();
}

void StepLog::attach(int fd, const std::string &path, bool alone) {
  fd_ = fd;
  path_ = path;
  alone_ = alone;
  bytes_ = std::max<int64_t>(0, lseek(fd, 0, SEEK_CUR)); // a pipe has none
  struct stat info;
  isRegular_ = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

bool StepLog::waitForRoom() {
  if (isRegular_)
    return true;
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

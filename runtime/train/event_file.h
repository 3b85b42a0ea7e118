//===- event_file.h - a run as scalars of TensorBoard -----------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_EVENT_FILE_H
#define MTC_RUNTIME_TRAIN_EVENT_FILE_H

#include "runtime/base/event_record.h"
#include "runtime/train/metrics.h"

namespace mtc::runtime {

/// The events of one run, a new file in a folder that may have those of earlier
/// ones: a file is never continued, as its last record may be torn.
class EventFile {
public:
  EventFile() = default;
  EventFile(const EventFile &) = delete;
  EventFile &operator=(const EventFile &) = delete;
  ~EventFile();

  /// Opens `folder`/events.out.tfevents.TIME.HOST.PID.0, and writes the version
  /// and that the run begins with `firstStep`. Errors: writeFailed.
  Status open(const std::string &folder, int64_t firstStep);
  bool isOpen() const { return fd_ >= 0; }

  /// The fields of a record that have a tag and a number, as one event.
  /// Allocates nothing once its buffers are large enough.
  template <typename Record>
  void write(std::span<const LogField<Record>> fields, const Record &record,
             int64_t step) {
    begin(step);
    add(fields, record);
    end();
  }
  /// By hand: an event of a step, its scalars, its end.
  void begin(int64_t step);
  template <typename Record>
  void add(std::span<const LogField<Record>> fields, const Record &record) {
    for (const LogField<Record> &field : fields)
      if (field.tag)
        std::visit([&](auto member) { add(field.tag, record.*member); },
                   field.member);
  }
  void add(std::string_view tag, double value);
  /// Under the tag group + name.
  void add(std::string_view group, std::string_view name, double value);
  void end();
  /// A text, such as what the run was told.
  void text(std::string_view tag, std::string_view markdown);

  /// Errors: writeFailed when an event was dropped.
  Status status() const { return out_.status(); }

private:
  template <typename Number>
  void add(std::string_view tag, const std::optional<Number> &value) {
    if (value)
      add(tag, static_cast<double>(*value));
  }
  void add(std::string_view, std::string_view) {} // no number
  void add(std::string_view, JsonText) {}

  StepLog out_;
  EventRecord event_;
  std::string bytes_, tag_;
  int fd_ = -1;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_EVENT_FILE_H

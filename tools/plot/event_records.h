//===- event_records.h - records of TensorBoard's files, read ---*- C++ -*-===//
//
// The format is that of runtime/base/event_record.h, which writes it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TOOLS_PLOT_EVENT_RECORDS_H
#define MTC_TOOLS_PLOT_EVENT_RECORDS_H

#include "runtime/base/status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::plot {

/// One event: what a plot needs of it.
struct Event {
  struct Scalar {
    std::string tag;
    double value;
  };
  double time = 0; ///< seconds since 1970
  int64_t step = 0;
  bool isStart = false; ///< what comes before has no steps from this one on
  std::vector<Scalar> scalars; ///< Summary.Value.simple_value
};

/// Whether bytes begin with a record: its length and the checksum of that.
bool beginsWithRecord(std::string_view bytes);

/// Takes the file `name` apart and gives its events in order. A last record
/// without its end, of a run that was killed or goes on, is passed over.
/// Errors: inputRejected, with the byte of the record: a checksum that is
/// another, bytes that are no event.
runtime::Status readEventRecords(std::string_view bytes,
                                 const std::string &name,
                                 const std::function<void(Event &&)> &take);

} // namespace mtc::plot
#endif // MTC_TOOLS_PLOT_EVENT_RECORDS_H

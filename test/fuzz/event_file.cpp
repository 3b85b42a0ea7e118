//===- event_file.cpp - any bytes as a file of TensorBoard ----------------===//
//
// The first byte says whether the rest are the bytes of the file or those of
// its one event, which get a length and checksums: mutations seldom find them.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/event_record.h"
#include "tools/plot/event_records.h"
#include "tools/plot/events.h"

#include <cstdlib>

using namespace mtc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string_view rest(reinterpret_cast<const char *>(data) + 1, size - 1);
  std::string file(rest);
  if (data[0] & 1) {
    file.clear();
    runtime::appendRecord(rest, file);
    if (!plot::beginsWithRecord(file))
      std::abort();
  }
  plot::EventRun run;
  std::vector<plot::Run> runs;
  if (!run.add(file, "events").ok() || !run.finish("run", runs).ok())
    return 0;
  double last = 0;
  for (const plot::Sample &sample : runs.at(0).samples) {
    if (&sample != &runs[0].samples[0] && !(sample.step > last))
      std::abort();
    last = sample.step;
  }
  return 0;
}

//===- run_log.cpp - any bytes as the log of a run ------------------------===//

#include "tools/plot/runs.h"
#include "tools/plot/series.h"

#include <cstdlib>

using namespace mtc::plot;

namespace {

void check(const std::vector<Run> &runs) {
  for (const Run &run : runs) {
    for (const char *key : {"loss", "grad_norm", "step"}) {
      Series series = seriesOf(run, "step", key);
      if (series.size() > run.samples.size())
        std::abort();
      Series mean = runningMean(series, 3);
      if (mean.size() != series.size() ||
          thinned(series, 2).size() > series.size())
        std::abort();
      Range range;
      range.add(series, /*isLog=*/true);
      range.add(mean, /*isLog=*/false);
      range.pad(/*isLog=*/false);
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  std::vector<Run> runs, again;
  bool good = readRuns(text, "log", runs).ok();
  check(runs);
  // A log that a run is writing has its whole lines.
  size_t last = text.rfind('\n');
  if (good && last != text.npos &&
      readRuns(text.substr(0, last + 1), "log", again).ok())
    check(again);
  return 0;
}

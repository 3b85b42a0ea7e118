//===- plot.h - runs as a picture of curves ---------------------*- C++ -*-===//
#ifndef MTC_TOOLS_PLOT_PLOT_H
#define MTC_TOOLS_PLOT_PLOT_H

#include "tools/plot/drawing.h"
#include "tools/plot/runs.h"

namespace mtc::plot {

struct PlotRequest {
  std::string x = "step";        ///< a key of the log, the horizontal axis
  std::vector<std::string> keys; ///< a panel each, from top to bottom
  bool logX = false, logY = false;
  int64_t smooth = 1; ///< lines of a running mean; 1: none
  int width = 800;    ///< pixels
};

/// A panel for each key, all runs in each, over a common horizontal axis. The
/// evaluations' loss is in the panel of the loss, as dots. Runs have colours,
/// in the order in which they are given. A value that is not finite, or not
/// positive on a log scale, leaves a gap; a curve with more points than a
/// picture has columns shows the least and largest of each. Errors: usage: a
/// key that no run has, with those that there are.
runtime::Status plot(const std::vector<Run> &runs, const PlotRequest &request,
                     Drawing &drawing);

} // namespace mtc::plot
#endif // MTC_TOOLS_PLOT_PLOT_H

//===- strokes.h - characters as lines --------------------------*- C++ -*-===//
#ifndef MTC_TOOLS_PLOT_STROKES_H
#define MTC_TOOLS_PLOT_STROKES_H

#include "tools/plot/drawing.h"

namespace mtc::plot {

/// The strokes of a text of ASCII, its first character at (0, 0) on the base
/// line, `size` being that of the font: capitals are 0.72 of it high. Any other
/// character, also one of several bytes, is a box.
std::vector<std::vector<Point>> strokesOf(const std::string &text, double size);

} // namespace mtc::plot
#endif // MTC_TOOLS_PLOT_STROKES_H

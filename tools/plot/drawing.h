//===- drawing.h - shapes of a picture --------------------------*- C++ -*-===//
//
// What a picture shows, once, for all forms in which it is written. Places are
// in pixels from the upper left corner.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TOOLS_PLOT_DRAWING_H
#define MTC_TOOLS_PLOT_DRAWING_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mtc::plot {

using Colour = uint32_t; ///< 0xrrggbb
using Point = std::pair<double, double>;

/// Connected points. `label` is what it shows, for programs that read a
/// picture; empty: nothing to say.
struct Curve {
  std::vector<Point> points;
  Colour colour = 0;
  double width = 1;
  double opacity = 1;
  std::string label = {};
};

struct Label {
  enum Anchor { start, middle, end };
  double x = 0, y = 0; ///< of the base line
  std::string text;
  double size = 12; ///< of the font
  Anchor anchor = start;
  Colour colour = 0;
  bool bold = false;
};

struct Drawing {
  int width = 0, height = 0;
  std::string title;
  std::vector<Curve> curves;
  std::vector<Label> labels;
};

/// As SVG, with text as text.
std::string toSvg(const Drawing &drawing);

/// As PNG of three bytes a pixel, `scale` pixels for one, text in strokes of
/// its own font. Size is at most 2^14 in each direction.
std::string toPng(const Drawing &drawing, double scale = 2);

/// The width of a text in strokes, for layout; fonts of others are about as
/// wide.
double textWidth(const std::string &text, double size);

} // namespace mtc::plot
#endif // MTC_TOOLS_PLOT_DRAWING_H

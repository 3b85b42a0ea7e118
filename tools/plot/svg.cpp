//===- svg.cpp - a drawing as SVG -----------------------------------------===//

#include "tools/plot/drawing.h"

#include <fmt/format.h>

namespace mtc::plot {
namespace {

/// For XML 1.0, which has no control characters.
std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  return out;
}

/// Two places, without zeros behind.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string pointsOf(const Curve &curve) {
  std::string text;
  for (auto [x, y] : curve.points)
    text +=
        fmt::format("{}{},{}", text.empty() ? "" : " ", number(x), number(y));
  return text;
}

std::string toText(const Curve &curve) {
  std::string more;
  if (curve.opacity < 1)
    more += fmt::format(" stroke-opacity=\"{}\"", number(curve.opacity));
  if (!curve.label.empty())
    more += fmt::format(" data-label=\"{}\"", escaped(curve.label));
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"#{:06x}\" "
                     "stroke-width=\"{}\" stroke-linejoin=\"round\" "
                     "stroke-linecap=\"round\"{}/>\n",
                     pointsOf(curve), curve.colour, number(curve.width), more);
}

std::string toText(const Label &label) {
  static constexpr const char *kAnchors[] = {"start", "middle", "end"};
  return fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" "
                     "text-anchor=\"{}\" fill=\"#{:06x}\"{}>{}</text>\n",
                     number(label.x), number(label.y), number(label.size),
                     kAnchors[label.anchor], label.colour,
                     label.bold ? " font-weight=\"bold\"" : "",
                     escaped(label.text));
}

} // namespace

std::string toSvg(const Drawing &drawing) {
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" role=\"img\">\n"
      "<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      drawing.width, drawing.height, escaped(drawing.title));
  for (const Curve &curve : drawing.curves)
    text += toText(curve);
  for (const Label &label : drawing.labels)
    text += toText(label);
  return text + "</svg>\n";
}

} // namespace mtc::plot

//===- svg.cpp - a schedule over time, as a picture -----------------------===//

#include "passes/pipeline/schedules/svg.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace mtc::schedules {
namespace {

// Lengths in pixels.
constexpr double left = 78, top = 46, right = 20;
constexpr double lane = 40, box = 26, strip = 4;
constexpr double slotWidth = 22;   ///< of the shortest slot
constexpr double widest = 20000;   ///< of all lanes; slots get narrower instead
constexpr double digitWidth = 6.8; ///< of a number in a box
constexpr double legendWidth = 520;

struct Colour {
  int red, green, blue;
};

/// Dark enough for white numbers in them.
constexpr std::array<Colour, 4> phaseColours = {{{0x2f, 0x68, 0xb5},
                                                 {0xb4, 0x5f, 0x0a},
                                                 {0x8a, 0x4f, 0xb8},
                                                 {0x24, 0x7a, 0x55}}};
constexpr const char *phaseNames[] = {
    "F: forward", "B: backward", "I: input gradient", "W: weight gradient"};

/// The first chunk has the colour of the phase, later ones are lighter.
double lightness(int chunk, int chunks) {
  return chunks > 1 ? 0.62 * chunk / (chunks - 1) : 0;
}

std::string shade(Phase phase, int chunk, int chunks) {
  Colour base = phaseColours[static_cast<int>(phase)];
  double part = lightness(chunk, chunks);
  auto mixed = [&](int value) {
    return static_cast<int>(value + (255 - value) * part);
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(base.red), mixed(base.green),
                     mixed(base.blue));
}

const char *inkOn(int chunk, int chunks) {
  return lightness(chunk, chunks) > 0.3 ? "#14202b" : "#ffffff";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '&'                             ? "&amp;"
           : c == '<'                           ? "&lt;"
           : c == '>'                           ? "&gt;"
           : static_cast<unsigned char>(c) < 32 ? "?"
                                                : std::string(1, c);
  return out;
}

constexpr const char *style = R"(<style>
text { font-family: sans-serif; font-size: 12px; fill: #1f2933; }
.card { fill: #ffffff; } .lane { fill: #e9edf1; } .tick { stroke: #9aa5b1; }
.title { font-size: 14px; font-weight: bold; }
.number { font-size: 11px; text-anchor: middle; } .time { text-anchor: middle; }
.warm-up { fill: #9fb3c8; } .steady { fill: #52606d; } .cool-down { fill: #d3b88c; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e7eb; } .card { fill: #161b22; } .lane { fill: #262d36; }
  .warm-up { fill: #627d98; } .steady { fill: #cbd2d9; } .cool-down { fill: #a5814a; }
}
</style>
)";

class Picture {
public:
  Picture(const Schedule &schedule, const Costs &costs, const Figures &figures)
      : schedule_(schedule), figures_(figures) {
    int64_t shortest = figures.makespan;
    for (const std::vector<Slot> &line : schedule.slots)
      for (const Slot &slot : line)
        shortest = std::min(shortest, costs.of(slot.phase));
    int64_t span = std::max<int64_t>(figures.makespan, 1);
    scale_ =
        std::min(slotWidth / std::max<int64_t>(shortest, 1), widest / span);
  }

  std::string draw(std::string_view title) {
    double width =
        left + std::max(scale_ * figures_.makespan, legendWidth) + right;
    double bottom = top + lane * schedule_.stages;
    double height = bottom + 30 + 22 * (schedule_.chunks > 1 ? 3 : 2);
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n"
        "<title>{2}</title>\n{3}<rect class=\"card\" width=\"100%\" "
        "height=\"100%\" rx=\"8\"/>\n",
        width, height, escaped(title), style);
    write("title", 16, 26, escaped(title));
    for (int stage = 0; stage < schedule_.stages; ++stage)
      drawLane(stage);
    drawAxis(bottom);
    drawLegend(bottom + 44);
    return std::move(text_) + "</svg>\n";
  }

private:
  double x(int64_t time) const { return left + scale_ * time; }

  void write(const char *kind, double x, double y, std::string_view words) {
    text_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}"
                         "</text>\n",
                         kind, x, y, words);
  }

  void rectangle(std::string_view attributes, double x, double y, double width,
                 double height) {
    text_ += fmt::format("<rect {} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                         "height=\"{:.1f}\" rx=\"2\"/>\n",
                         attributes, x, y, std::max(width, 0.5), height);
  }

  void drawLane(int stage) {
    double y = top + lane * stage;
    write("stage", 16, y + 18, fmt::format("stage {}", stage));
    rectangle("class=\"lane\"", left, y, scale_ * figures_.makespan, box);
    for (size_t i = 0; i < schedule_.slots[stage].size(); ++i)
      drawSlot(stage, i, y);
    drawSections(stage, y + box + 2);
  }

  void drawSlot(int stage, size_t i, double y) {
    const Slot &slot = schedule_.slots[stage][i];
    int64_t begin = figures_.timing.start[stage][i];
    int64_t end = figures_.timing.end[stage][i];
    double width = scale_ * (end - begin) - 1;
    text_ +=
        fmt::format("<g><title>{} of stage {}: {} to {}</title>\n",
                    toString(slot, schedule_.chunks > 1), stage, begin, end);
    rectangle(fmt::format("class=\"slot {}\" fill=\"{}\"", letter(slot.phase),
                          shade(slot.phase, slot.chunk, schedule_.chunks)),
              x(begin), y, width, box);
    std::string number = std::to_string(slot.microbatch);
    if (number.size() * digitWidth < width)
      text_ += fmt::format("<text class=\"number\" x=\"{:.1f}\" y=\"{:.1f}\" "
                           "style=\"fill: {}\">{}</text>\n",
                           x(begin) + width / 2, y + 17,
                           inkOn(slot.chunk, schedule_.chunks), number);
    text_ += "</g>\n";
  }

  /// From the first slot of each part to the first of the next.
  void drawSections(int stage, double y) {
    const std::vector<Slot> &line = schedule_.slots[stage];
    const Sections &sections = figures_.stages[stage].sections;
    auto begin = [&](size_t slot) {
      return slot < line.size() ? figures_.timing.start[stage][slot]
             : line.empty()     ? 0
                                : figures_.timing.end[stage].back();
    };
    size_t borders[] = {0, sections.steady, sections.coolDown, line.size()};
    const char *names[] = {"warm-up", "steady", "cool-down"};
    for (int part = 0; part < 3; ++part)
      if (borders[part] < borders[part + 1])
        rectangle(
            fmt::format("class=\"{}\"", names[part]), x(begin(borders[part])),
            y, scale_ * (begin(borders[part + 1]) - begin(borders[part])) - 1,
            strip);
  }

  /// Round times, at most about one in sixty pixels.
  int64_t tick() const {
    int64_t step = 1;
    for (int i = 0; step * scale_ < 60; ++i)
      step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
  }

  void drawAxis(double y) {
    for (int64_t time = 0; time <= figures_.makespan; time += tick()) {
      text_ += fmt::format("<line class=\"tick\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" "
                           "x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n",
                           x(time), y - 6, y);
      write("time", x(time), y + 13, std::to_string(time));
    }
  }

  void drawLegend(double y) {
    double at = 16;
    auto entry = [&](const std::string &attributes, const std::string &words,
                     double height) {
      rectangle(attributes, at, y - 5 - height / 2, 14, height);
      write("legend", at + 20, y, words);
      at += 36 + 6.4 * words.size();
    };
    for (Phase phase : {Phase::F, Phase::B, Phase::I, Phase::W})
      if (has(phase))
        entry(fmt::format("class=\"{}\" fill=\"{}\"", letter(phase),
                          shade(phase, 0, 1)),
              phaseNames[static_cast<int>(phase)], 14);
    at = 16, y += 22;
    entry("class=\"warm-up\"", "warm-up", strip);
    entry("class=\"steady\"", "steady state", strip);
    entry("class=\"cool-down\"", "cool-down", strip);
    at = 16, y += 22;
    for (int c = 0; schedule_.chunks > 1 && c < schedule_.chunks; ++c)
      entry(fmt::format("class=\"F\" fill=\"{}\"",
                        shade(Phase::F, c, schedule_.chunks)),
            fmt::format("chunk {}", c), 14);
  }

  bool has(Phase phase) const {
    for (const std::vector<Slot> &line : schedule_.slots)
      for (const Slot &slot : line)
        if (slot.phase == phase)
          return true;
    return false;
  }

  const Schedule &schedule_;
  const Figures &figures_;
  double scale_; ///< pixels per unit of time
  std::string text_;
};

} // namespace

std::string drawSvg(const Schedule &schedule, const Costs &costs,
                    const Figures &figures, std::string_view title) {
  return Picture(schedule, costs, figures).draw(title);
}

} // namespace mtc::schedules

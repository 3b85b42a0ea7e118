//===- png.cpp - a drawing as PNG -----------------------------------------===//
//
// Lines are drawn by the distance of a pixel's centre from them, which makes
// soft edges. The file is of the PNG specification (W3C): chunks IHDR, IDAT
// with a deflated stream of rows, each with filter 0 in front, and IEND.
//
//===----------------------------------------------------------------------===//

#include "tools/plot/drawing.h"
#include "tools/plot/strokes.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace mtc::plot {
namespace {

class Canvas {
public:
  Canvas(int width, int height)
      : width_(width), height_(height),
        pixels_(size_t(width) * size_t(height) * 3, 255),
        cover_(size_t(width) * size_t(height), 0.0f) {}

  /// One shape: where its lines cross it is not darker.
  void draw(std::span<const Point> points, double width, Colour colour,
            double opacity) {
    if (points.size() == 1)
      cover(points[0], points[0], width / 2);
    for (size_t i = 1; i < points.size(); ++i)
      cover(points[i - 1], points[i], width / 2);
    for (size_t at : touched_) {
      blend(at, colour, opacity * cover_[at]);
      cover_[at] = 0;
    }
    touched_.clear();
  }

  /// The rows as a PNG file has them before they are deflated.
  std::string rows() const {
    std::string out;
    size_t row = size_t(width_) * 3;
    for (int y = 0; y < height_; ++y) {
      out.push_back(0);
      out.append(reinterpret_cast<const char *>(&pixels_[size_t(y) * row]),
                 row);
    }
    return out;
  }

private:
  static double distance(Point p, Point a, Point b) {
    double dx = b.first - a.first, dy = b.second - a.second;
    double px = p.first - a.first, py = p.second - a.second;
    double length = dx * dx + dy * dy;
    double t =
        length > 0 ? std::clamp((px * dx + py * dy) / length, 0.0, 1.0) : 0;
    return std::hypot(px - t * dx, py - t * dy);
  }

  void cover(Point a, Point b, double radius) {
    double reach = radius + 1;
    auto bound = [](double value, int size) {
      return static_cast<int>(std::clamp(value, 0.0, double(size)));
    };
    int left = bound(std::min(a.first, b.first) - reach, width_),
        right = bound(std::max(a.first, b.first) + reach + 1, width_),
        top = bound(std::min(a.second, b.second) - reach, height_),
        bottom = bound(std::max(a.second, b.second) + reach + 1, height_);
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x) {
        double inside = std::clamp(
            radius + 0.5 - distance({x + 0.5, y + 0.5}, a, b), 0.0, 1.0);
        float &covered = cover_[size_t(y) * size_t(width_) + size_t(x)];
        if (inside <= covered)
          continue;
        if (covered == 0)
          touched_.push_back(size_t(y) * size_t(width_) + size_t(x));
        covered = static_cast<float>(inside);
      }
  }

  void blend(size_t at, Colour colour, double part) {
    for (int i = 0; i < 3; ++i) {
      double own = pixels_[at * 3 + size_t(i)],
             other = (colour >> (16 - 8 * i)) & 0xff;
      pixels_[at * 3 + size_t(i)] =
          static_cast<uint8_t>(std::lround(own + part * (other - own)));
    }
  }

  int width_, height_;
  std::vector<uint8_t> pixels_;
  std::vector<float> cover_; ///< of the shape that is drawn, 0 to 1
  std::vector<size_t> touched_;
};

void appendBig(uint32_t value, std::string &out) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(value >> shift));
}

void appendChunk(const std::string &type, const std::string &content,
                 std::string &out) {
  appendBig(static_cast<uint32_t>(content.size()), out);
  std::string body = type + content;
  out += body;
  uLong sum = crc32(0, reinterpret_cast<const Bytef *>(body.data()),
                    static_cast<uInt>(body.size()));
  appendBig(static_cast<uint32_t>(sum), out);
}

std::string deflated(const std::string &rows) {
  uLongf size = compressBound(rows.size());
  std::string out(size, '\0');
  // A buffer of the bound cannot be too small.
  compress2(reinterpret_cast<Bytef *>(out.data()), &size,
            reinterpret_cast<const Bytef *>(rows.data()), rows.size(), 9);
  out.resize(size);
  return out;
}

std::string fileOf(int width, int height, const std::string &rows) {
  std::string out = "\x89PNG\r\n\x1a\n", header;
  appendBig(static_cast<uint32_t>(width), header);
  appendBig(static_cast<uint32_t>(height), header);
  header += std::string("\x08\x02\x00\x00\x00", 5); // 8 bits, RGB
  appendChunk("IHDR", header, out);
  appendChunk("IDAT", deflated(rows), out);
  appendChunk("IEND", "", out);
  return out;
}

void draw(const Label &label, double scale, Canvas &canvas) {
  double width = textWidth(label.text, label.size);
  double x = label.x - (label.anchor == Label::middle ? width / 2
                        : label.anchor == Label::end  ? width
                                                      : 0);
  double thick = label.size * (label.bold ? 0.13 : 0.09);
  for (std::vector<Point> &stroke : strokesOf(label.text, label.size)) {
    for (auto &[px, py] : stroke)
      px = (px + x) * scale, py = (py + label.y) * scale;
    canvas.draw(stroke, thick * scale, label.colour, 1);
  }
}

} // namespace

std::string toPng(const Drawing &drawing, double scale) {
  auto pixels = [&](int size) {
    return std::clamp(static_cast<int>(size * scale), 1, 1 << 14);
  };
  int width = pixels(drawing.width), height = pixels(drawing.height);
  Canvas canvas(width, height);
  for (const Curve &curve : drawing.curves) {
    std::vector<Point> points = curve.points;
    for (auto &[x, y] : points)
      x *= scale, y *= scale;
    canvas.draw(points, curve.width * scale, curve.colour, curve.opacity);
  }
  for (const Label &label : drawing.labels)
    draw(label, scale, canvas);
  return fileOf(width, height, canvas.rows());
}

} // namespace mtc::plot

//===- strokes.cpp - characters as lines ----------------------------------===//
//
// Pictures of pixels have their own letters: a library with those of the system
// would bring fonts and five more libraries. Each is a list of lines; a point
// is a digit for x and a letter for y, `e` the base line, `m` the height of
// small letters, `q` that of capitals, `a` the lowest.
//
//===----------------------------------------------------------------------===//

#include "tools/plot/strokes.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mtc::plot {
namespace {

constexpr char kBox[] = "0e0q6q6e0e";

/// From the blank (32) to the tilde (126).
constexpr std::array<std::string_view, 95> kGlyphs = {
    "",                                   // blank
    "0q0i 0e0f",                          // !
    "0q0n 3q3n",                          // "
    "2e3q 5e6q 0i8i 0m8m",                // #
    "7o5q2q0o0m2k5k7i7g5e2e0g 3c4s",      // $
    "7q0e 0o1q3q4o3m1m0o 4g5i7i8g7e5e4g", // %
    "8e1n2q4q5n0h0f2e4e8j",               // &
    "0q0n",                               // '
    "3r1o0k0h1d3a",                       // (
    "0r2o3k3h2d0a",                       // )
    "3k3q 0m6p 0p6m",                     // *
    "0j6j 3g3m",                          // +
    "1f0c",                               // ,
    "0j5j",                               // -
    "0e0f",                               // .
    "0d6q",                               // /
    "2e4e6g6o4q2q0o0g2e",                 // 0
    "1n4q4e 1e7e",                        // 1
    "0o2q5q7o7l0e7e",                     // 2
    "0o2q5q7o7m5k2k 5k7i7g5e2e0g",        // 3
    "5e5q0i8i",                           // 4
    "7q0q0k2l5l7j7g5e2e0g",               // 5
    "6q3q0m0g2e5e7g7j5l2l0j",             // 6
    "0q7q3e",                             // 7
    "2k0m0o2q5q7o7m5k2k0i0g2e5e7g7i5k",   // 8
    "1e4e7i7o5q2q0o0l2j5j7l",             // 9
    "0e0f 0k0l",                          // :
    "1f0c 1k1l",                          // ;
    "6m0i6e",                             // <
    "0h6h 0l6l",                          // =
    "0m6i0e",                             // >
    "0o2q4q6o6m3j3h 3e3f",                // ?
    "6h5g3g2i2k3m5m6k6h8h8n6q2q0n0g2d7d", // @
    "0e4q8e 1i7i",                        // A
    "0e0q5q7o7m5k0k 5k7i7g5e0e",          // B
    "7o5q2q0o0g2e5e7g",                   // C
    "0e0q4q7n7h4e0e",                     // D
    "7e0e0q7q 0k5k",                      // E
    "0e0q7q 0k5k",                        // F
    "7o5q2q0o0g2e5e7g7k4k",               // G
    "0e0q 7e7q 0k7k",                     // H
    "0e0q",                               // I
    "0g2e4e6g6q",                         // J
    "0e0q 7q0j 2l7e",                     // K
    "0q0e6e",                             // L
    "0e0q4i8q8e",                         // M
    "0e0q7e7q",                           // N
    "2e5e7g7o5q2q0o0g2e",                 // O
    "0e0q5q7o7l5j0j",                     // P
    "2e5e7g7o5q2q0o0g2e 4h8d",            // Q
    "0e0q5q7o7m5k0k 4k7e",                // R
    "7o5q2q0o0m2k5k7i7g5e2e0g",           // S
    "0q8q 4q4e",                          // T
    "0q0g2e5e7g7q",                       // U
    "0q4e8q",                             // V
    "0q2e4m6e8q",                         // W
    "0q7e 0e7q",                          // X
    "0q4j8q 4j4e",                        // Y
    "0q7q0e7e",                           // Z
    "3r0r0a3a",                           // [
    "0q6d",                               // backslash
    "0r3r3a0a",                           // ]
    "0n3q6n",                             // ^
    "0d7d",                               // _
    "0q2o",                               // `
    "6m6e 6k4m2m0k0g2e4e6g",              // a
    "0q0e 0k2m4m6k6g4e2e0g",              // b
    "6k4m2m0k0g2e4e6g",                   // c
    "6q6e 6k4m2m0k0g2e4e6g",              // d
    "0i6i6k4m2m0k0g2e4e6f",               // e
    "5q4q2o2e 0m4m",                      // f
    "6m6c4a1a 6k4m2m0k0g2e4e6g",          // g
    "0q0e 0k2m4m6k6e",                    // h
    "0m0e 0p0q",                          // i
    "2m2c0a 2p2q",                        // j
    "0q0e 5m0h 2j6e",                     // k
    "0q0f1e2e",                           // l
    "0m0e 0k2m3m4k4e 4k6m7m8k8e",         // m
    "0m0e 0k2m4m6k6e",                    // n
    "2e4e6g6k4m2m0k0g2e",                 // o
    "0m0a 0k2m4m6k6g4e2e0g",              // p
    "6m6a 6k4m2m0k0g2e4e6g",              // q
    "0m0e 0j2m4m",                        // r
    "5l4m1m0l0j5h5f4e1e0f",               // s
    "2q2g3e5e 0m5m",                      // t
    "0m0g2e4e6g 6m6e",                    // u
    "0m3e6m",                             // v
    "0m2e4k6e8m",                         // w
    "0m6e 0e6m",                          // x
    "0m3e 6m2a0a",                        // y
    "0m6m0e6e",                           // z
    "4r2r2l0i2f2a4a",                     // {
    "0a0r",                               // |
    "0r2r2l4i2f2a0a",                     // }
    "0i2k5h7j",                           // ~
};

constexpr double kCapital = 'q' - 'e'; ///< units of a capital's height
constexpr double kGap = 3;             ///< units between characters
constexpr double kBlank = 4;           ///< units of a blank

std::string_view glyphOf(char c) {
  return c >= ' ' && c <= '~' ? kGlyphs[size_t(c - ' ')] : kBox;
}

/// A byte behind the first one of a character in UTF-8.
bool continues(char c) { return (c & 0xc0) == 0x80; }

double widthOf(std::string_view glyph) {
  if (glyph.empty())
    return kBlank;
  double width = 0;
  for (size_t i = 0; i + 1 < glyph.size(); i += glyph[i] == ' ' ? 1 : 2)
    if (glyph[i] != ' ')
      width = std::max<double>(width, glyph[i] - '0');
  return width;
}

double unitOf(double size) { return 0.72 * size / kCapital; }

} // namespace

std::vector<std::vector<Point>> strokesOf(const std::string &text,
                                          double size) {
  std::vector<std::vector<Point>> strokes;
  double unit = unitOf(size), x = 0;
  for (char c : text) {
    if (continues(c))
      continue;
    std::string_view glyph = glyphOf(c);
    bool isOpen = false;
    for (size_t i = 0; i + 1 < glyph.size();) {
      if (glyph[i] == ' ') {
        isOpen = false;
        ++i;
        continue;
      }
      if (!isOpen)
        strokes.emplace_back();
      isOpen = true;
      strokes.back().push_back(
          {(x + (glyph[i] - '0')) * unit, ('e' - glyph[i + 1]) * unit});
      i += 2;
    }
    x += widthOf(glyph) + kGap;
  }
  return strokes;
}

double textWidth(const std::string &text, double size) {
  double units = 0;
  for (char c : text)
    if (!continues(c))
      units += widthOf(glyphOf(c)) + kGap;
  return std::max(0.0, units - kGap) * unitOf(size);
}

} // namespace mtc::plot

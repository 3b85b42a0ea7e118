//===- messages.cpp - how messages reach people ---------------------------===//

#include "runtime/base/messages.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    auto next =
        i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    bool control =
        (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    // C1 controls in UTF-8: U+0080 to U+009F.
    bool c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (control || c1)
      out += fmt::format("\\x{:02x}", c1 ? next : byte);
    else
      out += text[i];
    i += c1;
  }
  return out;
}

std::string firstLines(const std::string &text) {
  constexpr int64_t most = 21;
  auto end = text.begin();
  for (int64_t i = 0; i < most && end != text.end(); ++i) {
    end = std::find(end, text.end(), '\n');
    if (end != text.end())
      ++end;
  }
  // A line end at the end begins no line.
  int64_t more = std::count(end, text.end(), '\n') +
                 (end != text.end() && text.back() != '\n');
  std::string shown(text.begin(), end);
  return more == 0 ? text : fmt::format("{}... and {} more lines", shown, more);
}

} // namespace mtc::runtime

//===- trimmed.h - texts without spaces around them -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_TRIMMED_H
#define MTC_RUNTIME_BASE_TRIMMED_H

#include <string_view>

namespace mtc::runtime {

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_TRIMMED_H

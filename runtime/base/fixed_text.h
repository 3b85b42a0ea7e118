//===- fixed_text.h - text in a buffer of the caller's ----------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_FIXED_TEXT_H
#define MTC_RUNTIME_BASE_FIXED_TEXT_H

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace mtc::runtime {

/// Appends to a fixed buffer; what does not fit is left out. Allocates nothing.
class FixedText {
public:
  explicit FixedText(std::span<char> buffer) : buffer_(buffer) {}

  template <typename... Args>
  FixedText &add(fmt::format_string<Args...> format, Args &&...args) {
    auto result =
        fmt::format_to_n(buffer_.data() + size_, buffer_.size() - size_, format,
                         std::forward<Args>(args)...);
    size_ = std::min(buffer_.size(), size_ + result.size);
    return *this;
  }
  std::string_view view() const { return {buffer_.data(), size_}; }

private:
  std::span<char> buffer_;
  size_t size_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_FIXED_TEXT_H

//===- scopes.cpp - what names stand for ----------------------------------===//
#include "test/cuda/ptx/syntax/scopes.h"

#include <charconv>

namespace mtc::ptx {
namespace {

/// Scopes around the body of a function: the module's and its parameters'.
constexpr size_t kOutside = 2;

} // namespace

void Scopes::close(const std::function<void(const LabelUse &, uint32_t)> &found,
                   const std::function<void(const LabelUse &)> &missing) {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (LabelUse &use : scope.uses) {
    if (auto label = scope.labels.find(use.name); label != scope.labels.end())
      found(use, label->second);
    else if (scopes_.size() > kOutside)
      scopes_.back().uses.push_back(std::move(use));
    else
      missing(use);
  }
}

bool Scopes::addVariable(std::string_view name, uint32_t variable) {
  return scopes_.back().variables.emplace(name, variable).second;
}

bool Scopes::addLabel(std::string_view name, uint32_t number) {
  return scopes_.back().labels.emplace(name, number).second;
}

bool Scopes::addRegister(std::string_view name, Type type,
                         std::optional<uint64_t> count) {
  Scope &scope = scopes_.back();
  if (count)
    return scope.ranges.emplace(name, Range{type, *count}).second;
  return scope.registers.emplace(name, type).second;
}

std::optional<uint32_t> Scopes::variable(std::string_view name) const {
  for (size_t k = scopes_.size(); k-- > 0;)
    if (auto it = scopes_[k].variables.find(name);
        it != scopes_[k].variables.end())
      return it->second;
  return std::nullopt;
}

std::optional<Type> Scopes::typeIn(const Scope &scope, std::string_view name) {
  if (auto it = scope.registers.find(name); it != scope.registers.end())
    return it->second;
  size_t stem = name.size();
  while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
    --stem;
  // The stem of %r12 is %r, but a range may itself end in a digit: %r1<3>.
  for (; stem < name.size(); ++stem) {
    auto it = scope.ranges.find(name.substr(0, stem));
    std::string_view digits = name.substr(stem);
    if (it == scope.ranges.end() || (digits[0] == '0' && digits.size() > 1))
      continue;
    uint64_t number;
    const char *end = digits.data() + digits.size();
    auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (error == std::errc() && number < it->second.count)
      return it->second.type;
  }
  return std::nullopt;
}

std::optional<uint32_t> Scopes::findRegister(std::string_view name,
                                             std::vector<Register> &registers) {
  for (size_t k = scopes_.size(); k-- > 0;) {
    Scope &scope = scopes_[k];
    if (auto it = scope.numbers.find(name); it != scope.numbers.end())
      return it->second;
    if (auto type = typeIn(scope, name)) {
      uint32_t number = uint32_t(registers.size());
      registers.push_back({std::string(name), *type});
      scope.numbers.emplace(name, number);
      return number;
    }
  }
  return std::nullopt;
}

} // namespace mtc::ptx

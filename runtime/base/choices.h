//===- choices.h - fields of a few values, in files -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_CHOICES_H
#define MTC_RUNTIME_BASE_CHOICES_H

#include "mtc/runtime/descriptor_fields.h"
#include "runtime/base/json.h"

#include <iterator>

namespace mtc::runtime {

/// The value that the text under `key` names; `out` stays, and there is a
/// problem, if it is the name of none. `choices`: a range of Choice<T>.
template <typename T, typename Choices>
void readChoice(FieldReader &reader, const char *key, T &out,
                const Choices &choices) {
  std::vector<std::string_view> names;
  for (const Choice<T> &choice : choices)
    names.push_back(choice.name);
  if (auto found = reader.oneOf(key, names))
    out = std::begin(choices)[static_cast<ptrdiff_t>(*found)].value;
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_CHOICES_H

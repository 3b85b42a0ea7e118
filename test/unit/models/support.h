//===- support.h - inputs shared by the tests of models ---------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_MODELS_SUPPORT_H
#define MTC_TEST_UNIT_MODELS_SUPPORT_H

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/spec.h"
#include "models/strategy.h"

namespace mtc::models::test {

/// One bad input and the whole text that must be reported for it.
struct BadInput {
  const char *name;
  std::string text;
  const char *rendered;
};

/// What a caller hands down.
inline const mtc::models::ScheduleNames kSchedules = {{"1f1b", "gpipe"}};

/// `text` with one line replaced, so that line numbers stay.
inline std::string withLine(const std::string &text, const std::string &line,
                            const std::string &by) {
  size_t at = text.find(line + "\n");
  EXPECT_NE(at, std::string::npos) << line;
  return std::string(text).replace(at, line.size(), by);
}

inline ModelSpec loadSpec(const std::string &name) {
  auto spec = loadModelSpec(MTC_MODELS_DIR "/specs/" + name + ".toml");
  EXPECT_TRUE(spec.ok()) << render(spec.diagnostics);
  return spec.value;
}

inline std::vector<std::string> sentences(const std::vector<Unbuilt> &list) {
  std::vector<std::string> found;
  for (const Unbuilt &each : list)
    found.push_back(each.what);
  return found;
}

} // namespace mtc::models::test
#endif // MTC_TEST_UNIT_MODELS_SUPPORT_H

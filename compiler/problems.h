//===- problems.h - what is wrong, all of it together -----------*- C++ -*-===//
#ifndef MTC_COMPILER_PROBLEMS_H
#define MTC_COMPILER_PROBLEMS_H

#include "runtime/base/status.h"

#include <string>

namespace mtc::compiler {

/// Sentences of one class of errors, a line each.
class Problems {
public:
  explicit Problems(runtime::StatusCode code = runtime::StatusCode::usage)
      : code(code) {}

  void demand(bool holds, const std::string &text) {
    if (!holds)
      said += (said.empty() ? "" : "\n") + text;
  }
  bool none() const { return said.empty(); }
  runtime::Status status() const {
    return none() ? runtime::Status::okay() : runtime::Status(code, said);
  }

private:
  runtime::StatusCode code;
  std::string said;
};

} // namespace mtc::compiler
#endif // MTC_COMPILER_PROBLEMS_H

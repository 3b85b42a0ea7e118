//===- parse_state.h - the parser of programs, in parts ---------*- C++ -*-===//
//
// parser.cpp has the module, declarations.cpp variables and what they start
// with, body.cpp functions, operands.cpp what instructions are applied to.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_SYNTAX_PARSE_STATE_H
#define MTC_TEST_CUDA_PTX_SYNTAX_PARSE_STATE_H

#include "test/cuda/ptx/syntax/cursor.h"
#include "test/cuda/ptx/syntax/scopes.h"
#include "test/cuda/ptx/syntax/tree.h"

#include <map>

namespace mtc::ptx {

class Parser {
public:
  explicit Parser(Cursor cursor) : cursor_(std::move(cursor)) {}
  Tree run();

private:
  // parser.cpp
  void header();
  void target();
  void version();
  void item();
  bool linkage();
  void section();
  void function(bool kernel);
  bool parameterList(Function &function, std::vector<uint32_t> &into);
  void performanceDirectives(Function &function);
  Extent extent();
  void skipItem();

  // declarations.cpp
  static std::optional<Space> spaceOf(std::string_view directive);
  /// From the space on to the ';' or, of a parameter, to the ',' or ')'.
  std::optional<uint32_t> variable(Space space);
  void attributes(Variable &variable);
  void extents(Variable &variable);
  void initialiser(Variable &variable, unsigned width);
  void element(Variable &variable, unsigned width, uint64_t &at);
  bool addressElement(Variable &variable, unsigned width, uint64_t at);
  int64_t offset();
  void registers();

  // body.cpp
  void body(Function &function);
  void bodyItem();
  bool bodyDirective();
  void label();
  void branchTargets(std::string_view name);
  void statement();
  void guard(Statement &statement);
  void closeScope();

  // operands.cpp
  Operand operand(int depth = 0);
  Operand number();
  Operand word();
  Operand address();
  Operand group(char close, Operand::Kind kind, int depth);
  void resolve(Operand &operand, std::string_view name);
  /// Direct operands that may be labels still to come.
  void awaitLabels(Statement &statement);

  Cursor cursor_;
  Tree tree_;
  Scopes scopes_;
  std::map<std::string, uint32_t, std::less<>> functions_;
  Function *function_ = nullptr; ///< whose body is read
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_SYNTAX_PARSE_STATE_H

//===- scopes.h - what names stand for --------------------------*- C++ -*-===//
//
// Braces within a function open a scope, as those of inline assembly do: what
// is declared in it hides what is declared around it. Labels may be used before
// they stand somewhere.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_SYNTAX_SCOPES_H
#define MTC_TEST_CUDA_PTX_SYNTAX_SCOPES_H

#include "test/cuda/ptx/syntax/tree.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::ptx {

/// Where a name that was not known yet stands; the number is the caller's.
struct LabelUse {
  std::string name;
  size_t where;
  int line;
};

class Scopes {
public:
  Scopes() { open(); }

  void open() { scopes_.emplace_back(); }
  /// Names that this scope's labels explain go to `found` with the label's
  /// number, others to the scope around it, or to `missing` if there is none
  /// but the module's.
  void close(const std::function<void(const LabelUse &, uint32_t)> &found,
             const std::function<void(const LabelUse &)> &missing);
  size_t depth() const { return scopes_.size(); }

  // Each false: the innermost scope has the name already.
  bool addVariable(std::string_view name, uint32_t variable);
  bool addLabel(std::string_view name, uint32_t number);
  /// One register, or with `count` those of a range: name0, name1, ...
  bool addRegister(std::string_view name, Type type,
                   std::optional<uint64_t> count);

  std::optional<uint32_t> variable(std::string_view name) const;
  /// Makes it an entry of `registers` when it is first asked for.
  std::optional<uint32_t> findRegister(std::string_view name,
                                       std::vector<Register> &registers);
  void use(LabelUse use) { scopes_.back().uses.push_back(std::move(use)); }

private:
  template <class T> using Map = std::map<std::string, T, std::less<>>;
  struct Range {
    Type type;
    uint64_t count;
  };
  struct Scope {
    Map<uint32_t> variables;
    Map<uint32_t> labels;
    Map<Type> registers;
    Map<Range> ranges;
    Map<uint32_t> numbers; ///< of registers that were asked for
    std::vector<LabelUse> uses;
  };
  static std::optional<Type> typeIn(const Scope &scope, std::string_view name);

  std::vector<Scope> scopes_;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_SYNTAX_SCOPES_H

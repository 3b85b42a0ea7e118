//===- tree.h - a program as its text has it --------------------*- C++ -*-===//
//
// Names of registers, variables, labels and functions are resolved, as scopes
// within a function hide them; what an instruction means is not looked at.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_SYNTAX_TREE_H
#define MTC_TEST_CUDA_PTX_SYNTAX_TREE_H

#include "test/cuda/ptx/module.h"
#include "test/cuda/ptx/syntax/types.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::ptx {

struct Register {
  std::string name;
  Type type;
};

/// A variable or a parameter.
struct Variable {
  std::string name;
  Space space = Space::generic;
  int line = 0;
  unsigned align = 1;
  uint64_t bytes = 0; ///< 0: of an open size, dynamic shared memory
  bool pointer = false;
  std::vector<std::byte> image; ///< what it starts with; empty: zeros
  /// An address in the image: of 8 bytes at `at`, of a variable.
  struct Relocation {
    uint64_t at;
    uint32_t variable;
    int64_t offset;
  };
  std::vector<Relocation> relocations;
};

struct Operand {
  enum class Kind : uint8_t {
    reg,      ///< index: of Function::registers
    special,  ///< name: "%tid.x"
    integer,  ///< bits
    single,   ///< bits of an f32
    real,     ///< bits of an f64
    variable, ///< index: of Tree::variables; offset
    label,    ///< index: the statement that it stands before
    targets,  ///< index: of Function::targets
    function, ///< index: of Tree::functions
    name,     ///< nothing has this name
    sink,     ///< _
    address,  ///< [parts[0] + offset]
    vector,   ///< {parts}
    pair,     ///< parts[0] | parts[1]
    list,     ///< (parts)
  };
  Kind kind = Kind::name;
  bool negated = false; ///< !p, or a minus before a register
  uint32_t index = 0;
  uint64_t bits = 0;
  int64_t offset = 0;
  std::string name; ///< as the text has it
  std::vector<Operand> parts;
};

struct Statement {
  int line;
  std::string opcode;                 ///< "ld"
  std::vector<std::string> modifiers; ///< "global", "b32"
  std::vector<Operand> operands;
  bool guarded = false; ///< @%p, as the register `guard`
  bool guardNegated = false;
  uint32_t guard = 0;
};

struct Function {
  std::string name;
  int line = 0;
  bool kernel = false;
  bool defined = false;
  std::vector<uint32_t> parameters; ///< of Tree::variables
  std::vector<uint32_t> results;    ///< the same, of a function
  Extent requiredBlock{0, 0, 0}, largestBlock{0, 0, 0};
  std::vector<Register> registers;
  std::vector<uint32_t> variables;   ///< declared within, of Tree::variables
  std::vector<Statement> statements; ///< a label may stand behind the last one
  std::vector<std::vector<uint32_t>> targets; ///< of brx.idx: statements
};

struct Tree {
  unsigned target = 0;  ///< 90 of "sm_90a"
  unsigned version = 0; ///< 80 of "8.0"
  /// sm_90a: for this architecture only, with all that it has.
  bool architectureSpecific = false;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_SYNTAX_TREE_H

//===- builder.h - one statement to one instruction -------------*- C++ -*-===//
//
// The decoder of a family takes modifiers and operands in the order in which
// the statement has them. What it does not take, and what does not fit, is a
// problem of the statement's line.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_DECODE_BUILDER_H
#define MTC_TEST_CUDA_PTX_DECODE_BUILDER_H

#include "test/cuda/ptx/decode/frame.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace mtc::ptx {

/// What the statements of a kernel are decoded with.
struct DecodeContext {
  const Tree &tree;
  const Function &function;
  const Rules &rules;
  /// Of variables: bytes within their space; parameters the same.
  const std::vector<uint32_t> &offsets;
  Frame &frame;
  std::vector<Problem> &problems;
};

class Builder {
public:
  Builder(DecodeContext &context, const Statement &statement);

  // Modifiers.
  bool take(std::string_view modifier);
  /// The place in the list of the one that comes; none comes: nothing.
  std::optional<size_t> takeOneOf(std::initializer_list<std::string_view> list);
  /// The same where one must come: 0 and a problem if none does.
  size_t expectOneOf(std::initializer_list<std::string_view> list);
  /// A type that is one of the list; the first of it and a problem if not.
  Type expectType(std::initializer_list<Type> list);
  /// The type that comes, or none.
  std::optional<Type> takeType();
  bool comes(std::string_view modifier) const;
  /// The type that stands last: it says which family add, min and so on are of.
  std::optional<Type> lastType() const;
  /// A problem if modifiers are left.
  void endModifiers();

  // Operands, in order; places go to `out` as they come.
  size_t operandsLeft() const;
  const Operand *peek() const;
  const Operand *nextOperand();
  void to(Type type);
  /// A register may be wider than what a load or a conversion writes to it.
  void toWide(Type type);
  void from(Type type);
  void fromWide(Type type);
  void toPredicate();
  /// A predicate, which may be negated: `out.flag` says so.
  void fromPredicate();
  /// d|p: d as to(type), p as a predicate; `second` is kNowhere without.
  void toPair(Type type, bool sinksAllowed = false);
  /// {a, b} of as many as `count`, each of `type`.
  void toVector(Type type, unsigned count, bool sinksAllowed = true);
  void fromVector(Type type, unsigned count);
  /// {a, b} of as many registers as `count`, none twice: to product->sums.
  void sumVector(Type type, unsigned count);
  void toWideVector(Type type, unsigned count);
  void fromWideVector(Type type, unsigned count);
  /// [register or variable + offset]: a place in `from`, or absolute, with
  /// out.immediate, out.base and, from a variable, out.space checked.
  void address(Space space);
  void secondAddress(Space space);
  /// A number that the text has.
  int64_t integer(std::string_view what);
  /// A register of 32 bits or a number: the mask of lanes.
  void members();
  void endOperands();
  /// The usual end: one result and so many operands, all of one type.
  void plain(Type type, unsigned sources);

  void problem(std::string sentence);
  bool failed() const { return failed_; }
  const Statement &statement() const { return statement_; }
  const Rules &rules() const { return context_.rules; }
  DecodeContext &context() { return context_; }
  /// Refused by the caller's rules.
  void flushesToZero();
  void approximates();
  void contractable();
  /// A program whose .target or .version is older has no such instruction.
  void needs(unsigned target, unsigned version);
  /// The same where it takes .target sm_90a and nothing later.
  void needsExactly(unsigned target, unsigned version);

  Instruction out;
  /// Registers, for who looks at what is written before it is read.
  std::vector<uint32_t> reads, writes, sums, left;
  /// Of wgmma.mma_async.
  std::optional<WarpgroupProduct> product;

private:
  enum class Width { equal, atLeast };
  void addTo(uint32_t place);
  void addFrom(uint32_t place);
  uint32_t destination(const Operand &operand, Type type, Width width,
                       bool sinkAllowed);
  uint32_t source(const Operand &operand, Type type, Width width);
  std::optional<uint32_t> immediate(const Operand &operand, Type type);
  uint32_t variableAddress(const Operand &operand, uint8_t slot);
  bool fits(Type reg, Type type, Width width) const;
  const Operand *vectorOf(unsigned count);
  uint32_t addressOf(Space space, int64_t &offset, uint8_t &base);
  uint32_t registerBase(const Operand &operand, Space space, uint8_t &base);

  DecodeContext &context_;
  const Statement &statement_;
  size_t modifier_ = 0, operand_ = 0;
  uint8_t lastSlot_ = 4;
  bool failed_ = false;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_DECODE_BUILDER_H

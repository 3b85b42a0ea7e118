//===- warpgroup.cpp - wgmma and setmaxnreg, as text ----------------------===//
#include "test/cuda/ptx/families/warpgroup.h"
#include "test/cuda/ptx/families/families.h"

#include <fmt/format.h>

#include <charconv>

namespace mtc::ptx {
namespace {

constexpr unsigned kMostColumns = 256;

/// m64nNk16; 0 and a problem: none of these.
unsigned takeColumns(Builder &b) {
  const auto &modifiers = b.statement().modifiers;
  for (unsigned columns = 8; columns <= kMostColumns; columns += 8)
    if (b.take(fmt::format("m64n{}k16", columns)))
      return columns;
  b.problem(fmt::format("wgmma: expected a shape of .m64n8k16 to .m64n256k16 "
                        "in steps of 8, found .{}",
                        modifiers.size() > 3 ? modifiers[3] : ""));
  return 0;
}

/// A number that the text has, one of two.
bool isSecond(Builder &b, std::string_view what, int64_t first,
              int64_t second) {
  int64_t value = b.integer(what);
  if (value != first && value != second)
    b.problem(fmt::format("wgmma: expected {} or {} as {}, found {}", first,
                          second, what, value));
  return value == second;
}

/// A predicate, or 0 or 1.
void takeScale(Builder &b) {
  const Operand *scale = b.peek();
  if (scale && scale->kind == Operand::Kind::integer && scale->bits > 1)
    b.problem(fmt::format("wgmma: expected a predicate, 0 or 1 as the scale of "
                          "D, found {}",
                          scale->name));
  b.fromPredicate();
}

void takeFactors(Builder &b, WarpgroupProduct &product) {
  const Operand *left = b.peek();
  bool inRegisters = left && left->kind == Operand::Kind::vector;
  if (inRegisters) {
    size_t others = b.reads.size();
    b.fromVector(Type::u32, 4); // none of .f32
    b.left.assign(b.reads.begin() + long(others), b.reads.end());
    product.left.assign(b.out.from.begin(), b.out.from.begin() + 4);
  } else {
    b.from(Type::b64);
    product.leftTile = b.out.from[0];
  }
  b.from(Type::b64);
  product.rightTile = b.out.from[inRegisters ? 4 : 1];
  takeScale(b);
  bool first = isSecond(b, "the scale of A", 1, -1);
  bool second = isSecond(b, "the scale of B", 1, -1);
  product.negative = first != second;
  product.leftTransposed =
      !inRegisters && isSecond(b, "whether A is transposed", 0, 1);
  product.rightTransposed = isSecond(b, "whether B is transposed", 0, 1);
}

void decodeProduct(Builder &b) {
  if (b.expectOneOf({"sync"}) || b.expectOneOf({"aligned"}))
    return;
  b.product.emplace();
  b.product->columns = takeColumns(b);
  if (b.failed())
    return;
  if (b.expectOneOf({"f32"}))
    return;
  Type left = b.expectType({Type::bf16, Type::f16});
  b.expectType({left});
  b.endModifiers();
  b.out.gather = Gather::warp;
  b.sumVector(Type::b32, b.product->columns / 2);
  takeFactors(b, *b.product);
  b.endOperands();
  b.out.run = left == Type::bf16 ? multiplyBf16 : multiplyF16;
}

} // namespace

void decodeWgmma(Builder &b) {
  b.needsExactly(90, 80);
  size_t what =
      b.expectOneOf({"mma_async", "fence", "commit_group", "wait_group"});
  if (what == 0)
    return decodeProduct(b);
  b.expectOneOf({"sync"});
  b.expectOneOf({"aligned"});
  b.endModifiers();
  b.out.gather = Gather::warp;
  if (what == 3) {
    b.out.immediate = b.integer("a number of groups");
    if (b.out.immediate < 0)
      b.problem(fmt::format("wgmma: {} groups", b.out.immediate));
  }
  b.endOperands();
  b.out.run = what == 1   ? fenceProducts
              : what == 2 ? commitProducts
                          : waitForProducts;
}

// Registers are not counted here.
void decodeSetmaxnreg(Builder &b) {
  b.needsExactly(90, 80);
  b.expectOneOf({"inc", "dec"});
  b.expectOneOf({"sync"});
  b.expectOneOf({"aligned"});
  b.expectType({Type::u32});
  b.endModifiers();
  int64_t count = b.integer("a number of registers");
  if (count < 24 || count > 256 || count % 8)
    b.problem(fmt::format("setmaxnreg: expected a multiple of 8 from 24 to "
                          "256, found {}",
                          count));
  b.endOperands();
  b.out.gather = Gather::warp;
  b.out.run = [](Warp &, const Instruction &) { return true; };
}

} // namespace mtc::ptx

//===- move.cpp - registers to registers, and kinds of addresses ----------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/block.h"
#include "test/cuda/ptx/machine/lanes.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

struct Same {
  template <class T> T operator()(T a) const { return a; }
};

bool moveMask(Warp &warp, const Instruction &i) {
  warp.setMask(i.to[0], warp.mask(i.from[0]));
  return true;
}

/// {a, b} to a register as wide as both; slot: bytes of a part.
bool packParts(Warp &warp, const Instruction &i) {
  unsigned bits = 8 * i.vector;
  uint64_t kept = (uint64_t(1) << bits) - 1;
  forLanes(warp.active, [&](int l) {
    uint64_t made = 0;
    for (unsigned k = 0; k < i.fromCount; ++k)
      made |= (warp.read(i.from[k], 4, l) & kept) << (bits * k);
    warp.write(i.to[0], i.slot, l, made);
  });
  return true;
}

bool unpackParts(Warp &warp, const Instruction &i) {
  unsigned bits = 8 * i.vector;
  uint64_t kept = (uint64_t(1) << bits) - 1;
  forLanes(warp.active, [&](int l) {
    uint64_t whole = warp.read(i.from[0], i.slot, l);
    for (unsigned k = 0; k < i.toCount; ++k)
      if (i.to[k] != kNowhere)
        warp.write(i.to[k], 4, l, whole >> (bits * k) & kept);
  });
  return true;
}

/// A clock that goes on with each instruction of the launch.
bool readClock(Warp &warp, const Instruction &i) {
  uint64_t now = ++warp.block->clock;
  forLanes(warp.active, [&](int l) { warp.write(i.to[0], i.slot, l, now); });
  return true;
}

Type partOf(unsigned bytes) {
  return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : Type::b32;
}

/// Whether one operand is in braces; then this is all of the instruction.
bool parts(Builder &b, Type type) {
  const Operand *first = b.peek();
  const auto &operands = b.statement().operands;
  bool toParts = first && first->kind == Operand::Kind::vector;
  bool fromParts =
      operands.size() > 1 && operands[1].kind == Operand::Kind::vector;
  if (!toParts && !fromParts)
    return false;
  size_t count = (toParts ? operands[0] : operands[1]).parts.size();
  unsigned bytes = bytesOf(type) / unsigned(std::max<size_t>(count, 1));
  bool good = (count == 2 || count == 4) && classOf(type) == TypeClass::bits &&
              bytes >= 1 && toParts != fromParts;
  if (!good) {
    b.problem("mov: expected 2 or 4 parts of a .b16, .b32 or .b64");
    return true;
  }
  b.out.vector = uint8_t(bytes);
  b.out.slot = slotOf(type);
  b.out.run = toParts ? unpackParts : packParts;
  if (toParts)
    b.toVector(partOf(bytes), unsigned(count));
  else
    b.to(type);
  if (fromParts)
    b.fromVector(partOf(bytes), unsigned(count));
  else
    b.from(type);
  b.endOperands();
  return true;
}

bool takesClock(Builder &b, Type type) {
  const auto &operands = b.statement().operands;
  if (operands.size() != 2 || operands[1].kind != Operand::Kind::special)
    return false;
  const SpecialRegister *special = findSpecialRegister(operands[1].name);
  if (!special || special->what != Special::clock)
    return false;
  b.to(type);
  b.nextOperand();
  if (bytesOf(special->type) != bytesOf(type))
    b.problem(fmt::format("mov: {} has {} bytes", special->name,
                          bytesOf(special->type)));
  b.out.slot = slotOf(type);
  b.out.run = readClock;
  return true;
}

uint64_t windowOf(Space space) {
  return space == Space::shared  ? kSharedWindow
         : space == Space::local ? kLocalWindow
                                 : 0;
}

bool convertAddress(Warp &warp, const Instruction &i) {
  uint64_t window = windowOf(i.space);
  forLanes(warp.active, [&](int l) {
    uint64_t address = warp.read(i.from[0], i.slot, l);
    warp.write(i.to[0], i.slot, l,
               i.flag ? address - window : address + window);
  });
  return true;
}

bool isInSpace(Warp &warp, const Instruction &i) {
  uint32_t made = 0;
  forLanes(warp.active, [&](int l) {
    uint64_t address = warp.read(i.from[0], 8, l);
    Space is = address >= kLocalWindow    ? Space::local
               : address >= kSharedWindow ? Space::shared
                                          : Space::global;
    if (is == Space::global && i.space == Space::constant) {
      Allocation *found = warp.block->memory.find(address, 1);
      is = found && found->readOnly ? Space::constant : is;
    }
    made |= uint32_t(is == i.space) << l;
  });
  warp.setMask(i.to[0], made);
  return true;
}

std::optional<Space> takeSpace(Builder &b) {
  constexpr Space kSpaces[] = {Space::global, Space::shared,   Space::shared,
                               Space::local,  Space::constant, Space::param};
  auto found = b.takeOneOf(
      {"global", "shared", "shared::cta", "local", "const", "param"});
  return found ? std::optional(kSpaces[*found]) : std::nullopt;
}

} // namespace

void decodeMov(Builder &b) {
  Type type = b.expectType({Type::pred, Type::b16, Type::b32, Type::b64,
                            Type::u16, Type::u32, Type::u64, Type::s16,
                            Type::s32, Type::s64, Type::f32, Type::f64,
                            Type::f16, Type::f16x2, Type::bf16, Type::bf16x2});
  b.endModifiers();
  if (type == Type::pred) {
    b.out.run = moveMask;
    b.toPredicate();
    b.fromPredicate();
    if (b.out.flag)
      b.problem("mov: expected a predicate that is not negated");
    return b.endOperands();
  }
  if (parts(b, type) || takesClock(b, type))
    return;
  unsigned bytes = bytesOf(type);
  b.out.run = bytes == 2   ? &unary<uint16_t, uint16_t, Same>
              : bytes == 4 ? &unary<uint32_t, uint32_t, Same>
                           : &unary<uint64_t, uint64_t, Same>;
  b.plain(type, 1);
}

void decodeCvta(Builder &b) {
  b.out.flag = b.take("to");
  auto space = takeSpace(b);
  if (!space)
    b.expectOneOf({"global", "shared", "local", "const", "param"});
  Type type = b.expectType({Type::u64, Type::u32});
  if (type == Type::u32)
    b.problem("cvta: addresses of this program have 64 bits");
  b.out.space = space.value_or(Space::global);
  if (b.out.space == Space::param)
    b.problem("cvta: generic addresses of parameters are not known here");
  b.out.slot = 8;
  b.out.run = windowOf(b.out.space) ? &convertAddress
                                    : &unary<uint64_t, uint64_t, Same>;
  b.plain(Type::u64, 1);
}

void decodeIsspacep(Builder &b) {
  auto space = takeSpace(b);
  if (!space || *space == Space::param)
    b.problem("isspacep: expected one of .global .shared .local .const");
  b.out.space = space.value_or(Space::global);
  b.out.run = isInSpace;
  b.endModifiers();
  b.toPredicate();
  b.from(Type::u64);
  b.endOperands();
}

} // namespace mtc::ptx

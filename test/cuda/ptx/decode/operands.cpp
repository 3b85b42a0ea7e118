//===- operands.cpp - operands to places in the register file -------------===//
#include "test/cuda/ptx/decode/builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::ptx {
namespace {

using Kind = Operand::Kind;

uint64_t lowBits(uint64_t bits, unsigned bytes) {
  return bytes >= 8 ? bits : bits & ((uint64_t(1) << (8 * bytes)) - 1);
}

/// Whether a number is one of so many bytes, with or without a sign.
bool fitsIn(uint64_t bits, unsigned bytes) {
  if (bytes >= 8)
    return true;
  auto value = int64_t(bits);
  return value >= -(int64_t(1) << (8 * bytes - 1)) &&
         value < (int64_t(1) << (8 * bytes));
}

} // namespace

void Builder::addTo(uint32_t place) {
  out.wideTo |= uint16_t((lastSlot_ == 8) << out.toCount % 16);
  if (out.toCount < out.to.size())
    out.to[out.toCount++] = place;
  else
    problem("more results than are taken here");
}

void Builder::addFrom(uint32_t place) {
  out.wideFrom |= uint16_t((lastSlot_ == 8) << out.fromCount % 16);
  if (out.fromCount < out.from.size())
    out.from[out.fromCount++] = place;
  else
    problem("more operands than are taken here");
}

/// A register without a type of its own takes all of its size; integers take
/// integers, and a float type itself only.
bool Builder::fits(Type reg, Type type, Width width) const {
  if (reg == Type::pred || type == Type::pred)
    return reg == type;
  unsigned has = bytesOf(reg), wants = bytesOf(type);
  bool sizes = has == wants || (width == Width::atLeast && has > wants);
  TypeClass regClass = classOf(reg), typeClass = classOf(type);
  if (regClass == TypeClass::floating && has > wants)
    return false; // its upper bits would be no float
  bool classes = regClass == TypeClass::bits || typeClass == TypeClass::bits ||
                 (regClass == typeClass &&
                  (regClass == TypeClass::integer || reg == type));
  return sizes && classes;
}

uint32_t Builder::destination(const Operand &operand, Type type, Width width,
                              bool sinkAllowed) {
  if (operand.kind == Kind::sink && sinkAllowed)
    return kNowhere;
  if (operand.kind != Kind::reg || operand.negated) {
    problem(fmt::format("{}: expected a register to write to, found '{}'",
                        statement_.opcode, operand.name));
    return kNowhere;
  }
  const Register &reg = context_.function.registers[operand.index];
  if (!fits(reg.type, type, width))
    problem(fmt::format("{}: register {} of type .{} does not take a .{}",
                        statement_.opcode, reg.name, nameOf(reg.type),
                        nameOf(type)));
  writes.push_back(operand.index);
  lastSlot_ = slotOf(reg.type);
  return context_.frame.placeOf(operand.index);
}

std::optional<uint32_t> Builder::immediate(const Operand &operand, Type type) {
  unsigned bytes = bytesOf(type);
  TypeClass kind = classOf(type);
  uint64_t bits = operand.bits;
  bool good = false;
  if (operand.kind == Kind::integer)
    good = kind != TypeClass::floating && fitsIn(bits, bytes);
  else if (operand.kind == Kind::single)
    good = bytes == 4 && kind != TypeClass::integer;
  else if (operand.kind == Kind::real && bytes == 8)
    good = kind != TypeClass::integer;
  else if (operand.kind == Kind::real && type == Type::f32) {
    bits = __builtin_bit_cast(uint32_t,
                              float(__builtin_bit_cast(double, operand.bits)));
    good = true;
  }
  if (!good)
    return std::nullopt;
  return context_.frame.constant(slotOf(type), lowBits(bits, bytes));
}

/// Within its state space; a global's is known at launch.
uint32_t Builder::variableAddress(const Operand &operand, uint8_t slot) {
  const Variable &variable = context_.tree.variables[operand.index];
  if (variable.space == Space::global || variable.space == Space::constant) {
    if (slot == 8)
      return context_.frame.constant(8, uint64_t(operand.offset),
                                     int32_t(operand.index));
    problem(fmt::format("an address of a .{} variable has 64 bits",
                        nameOf(variable.space)));
    return kNowhere;
  }
  uint64_t at = context_.offsets[operand.index] + uint64_t(operand.offset);
  return context_.frame.constant(slot, lowBits(at, slot));
}

uint32_t Builder::source(const Operand &operand, Type type, Width width) {
  lastSlot_ = slotOf(type);
  switch (operand.kind) {
  case Kind::reg: {
    const Register &reg = context_.function.registers[operand.index];
    if (!fits(reg.type, type, width) || operand.negated)
      problem(fmt::format("{}: register {} of type .{} is no .{}",
                          statement_.opcode, reg.name, nameOf(reg.type),
                          nameOf(type)));
    reads.push_back(operand.index);
    lastSlot_ = slotOf(reg.type);
    return context_.frame.placeOf(operand.index);
  }
  case Kind::special: {
    const SpecialRegister *special = findSpecialRegister(operand.name);
    if (special && bytesOf(type) == bytesOf(special->type) &&
        classOf(type) != TypeClass::floating)
      return context_.frame.special(special->what, slotOf(type));
    break;
  }
  case Kind::variable:
    if (classOf(type) != TypeClass::floating && bytesOf(type) >= 4)
      return variableAddress(operand, slotOf(type));
    break;
  default:
    if (auto place = immediate(operand, type))
      return *place;
  }
  problem(fmt::format("{}: '{}' is no operand of type .{}", statement_.opcode,
                      operand.name, nameOf(type)));
  return kNowhere;
}

void Builder::to(Type type) {
  if (const Operand *operand = nextOperand())
    addTo(destination(*operand, type, Width::equal, false));
}

void Builder::toWide(Type type) {
  if (const Operand *operand = nextOperand())
    addTo(destination(*operand, type, Width::atLeast, false));
}

void Builder::from(Type type) {
  if (const Operand *operand = nextOperand())
    addFrom(source(*operand, type, Width::equal));
}

void Builder::fromWide(Type type) {
  if (const Operand *operand = nextOperand())
    addFrom(source(*operand, type, Width::atLeast));
}

void Builder::toPredicate() { to(Type::pred); }

void Builder::fromPredicate() {
  const Operand *operand = nextOperand();
  if (!operand)
    return;
  Operand plain = *operand;
  out.flag = plain.negated;
  plain.negated = false;
  if (plain.kind == Kind::integer && !out.flag)
    return addFrom(context_.frame.constant(0, plain.bits != 0));
  addFrom(source(plain, Type::pred, Width::equal));
}

void Builder::toPair(Type type, bool sinksAllowed) {
  const Operand *operand = nextOperand();
  if (!operand)
    return;
  bool pair = operand->kind == Kind::pair;
  addTo(destination(pair ? operand->parts[0] : *operand, type, Width::equal,
                    pair && sinksAllowed));
  addTo(pair ? destination(operand->parts[1], Type::pred, Width::equal,
                           sinksAllowed)
             : kNowhere);
}

const Operand *Builder::vectorOf(unsigned count) {
  const Operand *operand = nextOperand();
  if (!operand)
    return nullptr;
  // Fragments of matrices are always in braces.
  if (count == 1 && operand->kind != Kind::vector && out.gather != Gather::warp)
    return operand;
  if (operand->kind == Kind::vector && operand->parts.size() == count)
    return operand;
  problem(fmt::format("{}: expected {} operands in braces", statement_.opcode,
                      count));
  return nullptr;
}

void Builder::toVector(Type type, unsigned count, bool sinksAllowed) {
  const Operand *operand = vectorOf(count);
  if (!operand)
    return;
  if (operand->kind != Kind::vector)
    return addTo(destination(*operand, type, Width::equal, false));
  for (const Operand &part : operand->parts)
    addTo(destination(part, type, Width::equal, sinksAllowed));
}

void Builder::sumVector(Type type, unsigned count) {
  const Operand *operand = vectorOf(count);
  if (!operand)
    return;
  size_t others = writes.size();
  for (const Operand &part : operand->parts)
    product->sums.push_back(destination(part, type, Width::equal, false));
  sums.assign(writes.begin() + long(others), writes.end());
  writes.resize(others);
  std::vector<uint32_t> sorted = sums;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    problem(fmt::format("{}: expected every register of D once",
                        statement_.opcode));
}

void Builder::toWideVector(Type type, unsigned count) {
  const Operand *operand = vectorOf(count);
  if (!operand)
    return;
  if (operand->kind != Kind::vector)
    return addTo(destination(*operand, type, Width::atLeast, false));
  for (const Operand &part : operand->parts)
    addTo(destination(part, type, Width::atLeast, true));
}

void Builder::fromVector(Type type, unsigned count) {
  const Operand *operand = vectorOf(count);
  if (!operand)
    return;
  if (operand->kind != Kind::vector)
    return addFrom(source(*operand, type, Width::equal));
  for (const Operand &part : operand->parts)
    addFrom(source(part, type, Width::equal));
}

void Builder::fromWideVector(Type type, unsigned count) {
  const Operand *operand = vectorOf(count);
  if (!operand)
    return;
  if (operand->kind != Kind::vector)
    return addFrom(source(*operand, type, Width::atLeast));
  for (const Operand &part : operand->parts)
    addFrom(source(part, type, Width::atLeast));
}

uint32_t Builder::registerBase(const Operand &operand, Space space,
                               uint8_t &base) {
  const Register &reg = context_.function.registers[operand.index];
  base = slotOf(reg.type);
  bool narrow = space == Space::shared || space == Space::local ||
                space == Space::param || space == Space::constant;
  if (classOf(reg.type) == TypeClass::floating ||
      (base != 8 && !(narrow && bytesOf(reg.type) == 4)))
    problem(fmt::format(
        "{}: register {} of type .{} is no address of .{} memory",
        statement_.opcode, reg.name, nameOf(reg.type), nameOf(space)));
  reads.push_back(operand.index);
  return context_.frame.placeOf(operand.index);
}

uint32_t Builder::addressOf(Space space, int64_t &offset, uint8_t &base) {
  const Operand *operand = nextOperand();
  base = 0;
  offset = 0;
  if (!operand)
    return kNowhere;
  if (operand->kind != Kind::address) {
    problem(fmt::format("{}: expected an address in brackets, found '{}'",
                        statement_.opcode, operand->name));
    return kNowhere;
  }
  const Operand &part = operand->parts[0];
  offset = operand->offset;
  if (part.kind == Kind::reg)
    return registerBase(part, space, base);
  if (part.kind == Kind::integer) {
    if (space != Space::local)
      problem(fmt::format("{}: an address that is a number is of .local memory "
                          "only",
                          statement_.opcode));
    offset = int64_t(part.bits);
    return kNowhere;
  }
  const Variable &variable = context_.tree.variables[part.index];
  bool global = variable.space == Space::global;
  if (variable.space != space && !(global && space == Space::generic))
    problem(fmt::format("{}: {} is a .{} variable, not a .{} one",
                        statement_.opcode, part.name, nameOf(variable.space),
                        nameOf(space)));
  if (global || variable.space == Space::constant) {
    base = 8;
    return variableAddress(part, 8);
  }
  offset = int64_t(context_.offsets[part.index] + uint64_t(part.offset));
  return kNowhere;
}

void Builder::address(Space space) {
  out.space = space;
  addFrom(addressOf(space, out.immediate, out.base));
}

/// Its slot goes to `slot`: an instruction with two addresses loads nothing to
/// registers.
void Builder::secondAddress(Space space) {
  addFrom(addressOf(space, out.second, out.slot));
}

int64_t Builder::integer(std::string_view what) {
  const Operand *operand = nextOperand();
  if (!operand)
    return 0;
  if (operand->kind != Kind::integer)
    problem(fmt::format("{}: expected {} as a number, found '{}'",
                        statement_.opcode, what, operand->name));
  return int64_t(operand->bits);
}

void Builder::members() {
  if (const Operand *operand = nextOperand())
    out.members = source(*operand, Type::b32, Width::equal);
  out.gather = Gather::members;
}

} // namespace mtc::ptx

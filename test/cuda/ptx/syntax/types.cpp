//===- types.cpp - types and state spaces of PTX --------------------------===//
#include "test/cuda/ptx/syntax/types.h"

#include <iterator>

namespace mtc::ptx {
namespace {

struct Row {
  std::string_view name;
  uint8_t bytes;
  TypeClass kind;
};

// In the order of Type.
constexpr Row kRows[] = {
    {"pred", 0, TypeClass::predicate}, {"b8", 1, TypeClass::bits},
    {"b16", 2, TypeClass::bits},       {"b32", 4, TypeClass::bits},
    {"b64", 8, TypeClass::bits},       {"b128", 16, TypeClass::bits},
    {"u8", 1, TypeClass::integer},     {"u16", 2, TypeClass::integer},
    {"u32", 4, TypeClass::integer},    {"u64", 8, TypeClass::integer},
    {"s8", 1, TypeClass::integer},     {"s16", 2, TypeClass::integer},
    {"s32", 4, TypeClass::integer},    {"s64", 8, TypeClass::integer},
    {"f16", 2, TypeClass::floating},   {"f16x2", 4, TypeClass::floating},
    {"bf16", 2, TypeClass::floating},  {"bf16x2", 4, TypeClass::floating},
    {"tf32", 4, TypeClass::floating},  {"f32", 4, TypeClass::floating},
    {"f64", 8, TypeClass::floating},   {"f32x2", 8, TypeClass::floating},
};

const Row &rowOf(Type type) { return kRows[size_t(type)]; }

} // namespace

std::optional<Type> typeNamed(std::string_view name) {
  for (size_t k = 0; k < std::size(kRows); ++k)
    if (kRows[k].name == name)
      return Type(k);
  return std::nullopt;
}

std::string_view nameOf(Type type) { return rowOf(type).name; }
unsigned bytesOf(Type type) { return rowOf(type).bytes; }
TypeClass classOf(Type type) { return rowOf(type).kind; }
bool isSigned(Type type) { return type >= Type::s8 && type <= Type::s64; }

std::string_view nameOf(Space space) {
  constexpr std::string_view kNames[] = {"generic", "global", "shared",
                                         "local",   "const",  "param"};
  return kNames[size_t(space)];
}

} // namespace mtc::ptx

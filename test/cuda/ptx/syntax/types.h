//===- types.h - types and state spaces of PTX ------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_SYNTAX_TYPES_H
#define MTC_TEST_CUDA_PTX_SYNTAX_TYPES_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace mtc::ptx {

enum class Type : uint8_t {
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  f32x2
};

/// What registers a type may be used with.
enum class TypeClass : uint8_t { predicate, bits, integer, floating };

enum class Space : uint8_t { generic, global, shared, local, constant, param };

/// "b32" and so on; none: no type that is known here.
std::optional<Type> typeNamed(std::string_view name);
std::string_view nameOf(Type type);
std::string_view nameOf(Space space);

/// In memory; a predicate has 0.
unsigned bytesOf(Type type);
TypeClass classOf(Type type);
bool isSigned(Type type);
/// f32 and f64; what fp16 and the like are is said where it matters.
inline bool isWideFloat(Type type) {
  return type == Type::f32 || type == Type::f64;
}

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_SYNTAX_TYPES_H

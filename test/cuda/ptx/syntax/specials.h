//===- specials.h - registers that the machine fills ------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_SYNTAX_SPECIALS_H
#define MTC_TEST_CUDA_PTX_SYNTAX_SPECIALS_H

#include "test/cuda/ptx/syntax/types.h"

#include <optional>
#include <string_view>

namespace mtc::ptx {

enum class Special : uint8_t {
  tidX,
  tidY,
  tidZ,
  ntidX,
  ntidY,
  ntidZ,
  ctaidX,
  ctaidY,
  ctaidZ,
  nctaidX,
  nctaidY,
  nctaidZ,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemaskEq,
  lanemaskLe,
  lanemaskLt,
  lanemaskGe,
  lanemaskGt,
  dynamicShared,
  totalShared,
  zero,
  one,
  clock
};

struct SpecialRegister {
  std::string_view name; ///< "%tid.x"
  Special what;
  Type type; ///< u32 or u64
};

/// Null: no special register of that name is known here.
const SpecialRegister *findSpecialRegister(std::string_view name);
inline bool isSpecialRegister(std::string_view name) {
  return findSpecialRegister(name);
}

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_SYNTAX_SPECIALS_H

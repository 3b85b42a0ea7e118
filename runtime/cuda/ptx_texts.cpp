//===- ptx_texts.cpp - checked-in PTX, within programs --------------------===//
//
// The build names the files (MTC_PTX_FILES, ptx_files.inc): each is a row
// X(name, "path").
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/ptx_texts.h"

#define X(name, path)                                                          \
  asm(".pushsection .rodata.mtc_ptx_" #name ",\"a\",@progbits\n"               \
      ".hidden mtc_ptx_" #name "\n"                                            \
      ".globl mtc_ptx_" #name "\n"                                             \
      "mtc_ptx_" #name ":\n"                                                   \
      ".incbin \"" path "\"\n"                                                 \
      ".byte 0\n"                                                              \
      ".popsection\n");                                                        \
  extern "C" const char mtc_ptx_##name[];
#include "ptx_files.inc"
#undef X

namespace mtc::cuda {

const char *ptxText(std::string_view name) {
#define X(text, path)                                                          \
  if (name == #text)                                                           \
    return mtc_ptx_##text;
#include "ptx_files.inc"
#undef X
  return nullptr;
}

} // namespace mtc::cuda

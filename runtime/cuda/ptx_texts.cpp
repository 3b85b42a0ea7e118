//===- ptx_texts.cpp - checked-in PTX, within programs --------------------===//
//
// The build names the files (ptx_files.inc): each is a row X(name, "path").
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/ptx_texts.h"

namespace mtc::cuda {

#define X(name, path)                                                          \
  asm(".pushsection .rodata.mtc_ptx_" #name ",\"a\",@progbits\n"               \
      ".hidden mtc_ptx_" #name "\n"                                            \
      ".globl mtc_ptx_" #name "\n"                                             \
      "mtc_ptx_" #name ":\n"                                                   \
      ".incbin \"" path "\"\n"                                                 \
      ".byte 0\n"                                                              \
      ".popsection\n");                                                        \
  extern "C" const char mtc_ptx_##name[];                                      \
  extern "C" const PtxText mtc_gpu_text_##name;                                \
  const PtxText mtc_gpu_text_##name = {#name, mtc_ptx_##name};
#include "ptx_files.inc"
#undef X

const char *ptxText(std::string_view name) {
  for (const PtxText *const *text = mtc_gpu_texts; *text; ++text)
    if (name == (*text)->name)
      return (*text)->text;
  return nullptr;
}

} // namespace mtc::cuda

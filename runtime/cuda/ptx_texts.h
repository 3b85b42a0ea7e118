//===- ptx_texts.h - checked-in PTX, within programs ------------*- C++ -*-===//
//
// A program for GPUs has the texts that its plan calls for: `mtc compile` names
// them in the program, and the linker leaves out the others. What is not a
// program, as mtc and the tests, has all of them.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_PTX_TEXTS_H
#define MTC_RUNTIME_CUDA_PTX_TEXTS_H

#include <string_view>

namespace mtc::cuda {

/// NAME.ptx of this folder, which is the symbol `mtc_gpu_text_NAME`.
struct PtxText {
  const char *name = nullptr; ///< "attention_bf16_d32"
  const char *text = nullptr; ///< ended by NUL
};

/// Those of this program, then null.
extern "C" const PtxText *const mtc_gpu_texts[];

/// The text of that name; null: this program has none. Static storage.
const char *ptxText(std::string_view name);

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_PTX_TEXTS_H

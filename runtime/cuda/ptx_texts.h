//===- ptx_texts.h - checked-in PTX, within programs ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CUDA_PTX_TEXTS_H
#define MTC_RUNTIME_CUDA_PTX_TEXTS_H

#include <string_view>

namespace mtc::cuda {

/// The text of `name`.ptx of this folder, "attention_bf16_d32", ended by NUL;
/// null: there is none. Static storage.
const char *ptxText(std::string_view name);

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_PTX_TEXTS_H

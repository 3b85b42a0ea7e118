//===- all_ptx_texts.cpp - every text, for what is not a program ----------===//
//
// A program for GPUs defines `mtc_gpu_texts` itself, so that this file is not
// taken from the archive.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/ptx_texts.h"

namespace mtc::cuda {

extern "C" {
#define X(name, path) extern const PtxText mtc_gpu_text_##name;
#include "ptx_files.inc"
#undef X

const PtxText *const mtc_gpu_texts[] = {
#define X(name, path) &mtc_gpu_text_##name,
#include "ptx_files.inc"
#undef X
    nullptr};
}

} // namespace mtc::cuda

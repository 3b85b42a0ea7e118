// Attention of bf16 for x86-64-v4-amx; CMakeLists.txt gives this file's -march.
#ifndef __AMX_TILE__
#error "the headers have no tiles without this macro, which -mamx-tile defines"
#endif

#include "runtime/kernels/cpu/attention_backward.h"
#include "runtime/kernels/cpu/attention_forward.h"

namespace mtc::runtime {

static void forwardByTiles(const AttentionCall &call, void *out, float *lse) {
  shapeTiles(kTileBlock);
  forwardWith(call, static_cast<Bf16 *>(out), lse);
  _tile_release();
}

static void backwardByTiles(const AttentionCall &call,
                            const AttentionGradients &gradients) {
  shapeTiles(kTileBlock);
  backwardWith<Bf16>(call, gradients);
  _tile_release();
}

const AttentionKernels kAttentionAmx = {forwardByTiles, backwardByTiles};

} // namespace mtc::runtime

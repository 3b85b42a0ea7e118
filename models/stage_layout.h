//===- stage_layout.h - stages as a string ----------------------*- C++ -*-===//
//
// Megatron-LM's --pipeline-model-parallel-layout. `E` is the embedding, `t` a
// transformer layer, `L` the head with the loss; `|` ends a virtual stage;
// `t*3` and `(tt|)*4` repeat; commas are for people. "Et*2|(ttt|)*2tL" has four
// virtual stages of 2, 3, 3 and 1 layers.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_STAGE_LAYOUT_H
#define MTC_MODELS_STAGE_LAYOUT_H

#include "models/nearest.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mtc::models {

/// Layers of each virtual stage, in the order of the model, into `out`, which
/// stays as it is where the text is wrong: another sign, parentheses or numbers
/// that do not fit, an embedding that is not once and first, a head that is not
/// once and last, or more than 65,536 parts.
ReadText parseStageLayout(std::string_view text, std::vector<int64_t> &out);

} // namespace mtc::models
#endif // MTC_MODELS_STAGE_LAYOUT_H

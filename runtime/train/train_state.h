//===- train_state.h - what a rank has that a later run needs ---*- C++ -*-===//
//
// The tensors of a checkpoint: `param/NAME`, fp32, and for each state of the
// optimizer `STATE/NAME`, for the parameters of the model by their names.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_TRAIN_TRAIN_STATE_H
#define MTC_RUNTIME_TRAIN_TRAIN_STATE_H

#include "runtime/pieces/stored_pieces.h"
#include "runtime/program/rank.h"

#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// What this rank contributes to a checkpoint, as offsets in arenas.
std::vector<Piece> trainState(const RankState &rank);

/// The tensors in which a checkpoint has a parameter, `param` first.
std::vector<std::string> tensorsOf(const Descriptor &program,
                                   const ParamInfo &p);

/// Whether a tensor of a checkpoint is a parameter, no state of an optimizer.
bool isParameterTensor(std::string_view name);

/// Fills parameters and optimizer states from what trainState() of the ranks of
/// any layout gave. Errors: inputRejected.
Status loadTrainState(RankState &rank, const StoredPieces &from);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_TRAIN_STATE_H

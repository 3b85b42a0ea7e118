//===- document_fields.cpp - what documents are to a model ----------------===//

#include "models/document_fields.h"

namespace mtc::models {

using OfStrategy = Kind<Strategy>;

std::vector<Field<Strategy>> documentFields() {
  return {
      {"", "reset_positions", OfStrategy::boolean(&Strategy::resetPositions),
       "positions begin again, with 0, at the first token of each document "
       "(docs/documents.md)",
       "true", Need::optional, "", "reset-position-ids"},
      {"", "reset_attention", OfStrategy::boolean(&Strategy::resetAttention),
       "no token attends to documents before its own", "true", Need::optional,
       "", "reset-attention-mask"},
      {"", "mask_document_ends",
       OfStrategy::boolean(&Strategy::maskDocumentEnds),
       "the last token of each document is left out of the loss: the one "
       "behind it, its label, begins another document",
       "true", Need::optional, "", "eod-mask-loss"},
      {"", "loss_per_token", OfStrategy::boolean(&Strategy::lossPerToken),
       "where tokens are left out, the gradient is that of the mean over all "
       "tokens of the step that are in the loss; without it, of the mean over "
       "microbatches of each one's mean. The loss in logs is over tokens",
       "true", Need::optional, "", "calculate-per-token-loss"},
  };
}

} // namespace mtc::models

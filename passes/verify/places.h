//===- places.h - where in the whole an element of a part is ----*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_PLACES_H
#define MTC_PASSES_VERIFY_PLACES_H

#include "passes/verify/index_form.h"
#include "passes/verify/model.h"

namespace mtc::passes::verify {

/// Places in the whole model of what a rank has a part of, from the sizes of
/// the model and the mesh alone: what a part is, its size says. Empty where a
/// size is that of no part.
class Places {
public:
  Places(const Model &model, IndexForms &forms);

  /// Of the `index`th position of `size` that a rank has of a sample: all, its
  /// head and tail along cp, or of these an equal part along tp.
  IndexForm position(const IndexForm &index, int64_t size);
  /// Of the `index`th of `size` elements of a token: all, or a part along tp.
  IndexForm hidden(const IndexForm &index, int64_t size) const;
  /// Likewise of the logits of a token, and of their number in `whole`.
  IndexForm logit(const IndexForm &index, int64_t size) const;
  /// Of the `index`th of `size` samples of a microbatch, a rank's own or all,
  /// counted over all replicas and steps.
  IndexForm sample(const IndexForm &index, int64_t size) const;

  /// What row of a table of `rows` rows index `index` is, on a rank that has
  /// the coordinate along `axis` of equal parts; all of it without one.
  IndexForm rowOf(const IndexForm &index, int64_t rows,
                  std::optional<MtcAxis> axis) const;

  /// Of the `index`th of `size` indices that the rank of coordinate `rank` has
  /// of a dimension that `axis` cuts, in equal parts or in a head and a tail.
  IndexForm inWhole(const IndexForm &index, int64_t size, MtcAxis axis,
                    const IndexForm &rank);
  /// The other way round: whose it is, and its number there.
  struct Owned {
    IndexForm rank, index;
  };
  Owned ownerOf(const IndexForm &index, int64_t size, MtcAxis axis);

  bool isPartOfLogits(int64_t size) const;

private:
  /// `size` indices of `whole`, or an equal part along tp.
  IndexForm part(const IndexForm &index, int64_t size, int64_t whole) const;

  ModelAttr sizes;
  BatchAttr batch;
  Mesh mesh;
  IndexForms &forms;
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_PLACES_H

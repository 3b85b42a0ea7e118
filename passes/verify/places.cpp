//===- places.cpp - where in the whole an element of a part is ------------===//
#include "passes/verify/places.h"

using namespace mlir;

namespace mtc::passes::verify {

Places::Places(const Model &model, IndexForms &forms)
    : sizes(model.config.getModel()), batch(model.config.getBatch()),
      mesh(model.mesh), forms(forms) {}

IndexForm Places::part(const IndexForm &index, int64_t size,
                       int64_t whole) const {
  int64_t ranks = mesh[MTC_AXIS_TP];
  if (size == whole)
    return index;
  if (saturatingMul(size, ranks) != whole)
    return {};
  return forms.add(index, forms.mul(forms.variable(MTC_AXIS_TP), size));
}

/// Of 2·cp pieces rank r has piece r and, behind it, piece 2·cp - 1 - r.
IndexForm Places::position(const IndexForm &index, int64_t size) {
  int64_t ranks = mesh[MTC_AXIS_CP];
  int64_t ofRank = batch.getSequence() / ranks;
  IndexForm inPart = part(index, size, ofRank);
  if (ranks == 1)
    return inPart;
  int64_t piece = ofRank / 2;
  IndexForm rank = forms.variable(MTC_AXIS_CP);
  IndexForm half = forms.div(inPart, piece);
  // r in the head; 2·cp - 1 - r in the tail, of which 1 is in the index.
  IndexForm back =
      forms.sub(IndexForms::constant(2 * ranks - 2), forms.mul(rank, 2));
  IndexForm pieces = forms.add(rank, forms.mul(half, back));
  return forms.add(inPart, forms.mul(pieces, piece));
}

IndexForm Places::hidden(const IndexForm &index, int64_t size) const {
  return part(index, size, sizes.getHidden());
}

IndexForm Places::logit(const IndexForm &index, int64_t size) const {
  return part(index, size, sizes.getPaddedVocab());
}

bool Places::isPartOfLogits(int64_t size) const {
  return logit(Polynomial(), size).has_value();
}

IndexForm Places::sample(const IndexForm &index) const {
  rt::Affine first;
  first[MTC_AXIS_DP] = batch.getMicro();
  first[rt::kMicrobatch] = batch.getMicro() * mesh[MTC_AXIS_DP];
  first[rt::kSample] = 1;
  return forms.add(forms.of(first), index);
}

IndexForm Places::rowOf(const IndexForm &index, int64_t rows,
                        std::optional<MtcAxis> axis) const {
  if (!axis)
    return index;
  return forms.sub(index, forms.mul(forms.variable(*axis), rows));
}

} // namespace mtc::passes::verify

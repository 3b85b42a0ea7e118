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

IndexForm Places::position(const IndexForm &index, int64_t size) {
  int64_t ofRank = batch.getSequence() / mesh[MTC_AXIS_CP];
  return inWhole(part(index, size, ofRank), ofRank, MTC_AXIS_CP,
                 forms.variable(MTC_AXIS_CP));
}

/// Of 2·ranks pieces rank r has piece r and, behind it, 2·ranks - 1 - r.
IndexForm Places::inWhole(const IndexForm &index, int64_t size, MtcAxis axis,
                          const IndexForm &rank) {
  if (mesh[axis] == 1)
    return index;
  if (!kAxes[axis].headAndTail)
    return forms.add(index, forms.mul(rank, size));
  int64_t piece = size / 2;
  IndexForm half = forms.div(index, piece);
  // Behind its first one a rank lacks the pieces up to its second one.
  IndexForm between =
      forms.sub(IndexForms::constant(2 * mesh[axis] - 2), forms.mul(rank, 2));
  IndexForm pieces = forms.add(rank, forms.mul(half, between));
  return forms.add(index, forms.mul(pieces, piece));
}

Places::Owned Places::ownerOf(const IndexForm &index, int64_t size,
                              MtcAxis axis) {
  if (!kAxes[axis].headAndTail)
    return {forms.div(index, size), forms.rem(index, size)};
  int64_t piece = size / 2;
  IndexForm number = forms.div(index, piece);
  IndexForm half = forms.div(number, mesh[axis]);
  IndexForm back = forms.rem(number, mesh[axis]);
  IndexForm mirrored =
      forms.sub(IndexForms::constant(mesh[axis] - 1), forms.mul(back, 2));
  return {forms.add(back, forms.mul(half, mirrored)),
          forms.add(forms.mul(half, piece), forms.rem(index, piece))};
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

IndexForm Places::sample(const IndexForm &index, int64_t size) const {
  int64_t own = batch.getMicro(), all = saturatingMul(own, mesh[MTC_AXIS_DP]);
  if (size != own && size != all)
    return {};
  rt::Affine first;
  first[MTC_AXIS_DP] = size == own ? own : 0;
  first[rt::kMicrobatch] = all;
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

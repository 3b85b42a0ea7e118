//===- random.cpp - dropout -----------------------------------------------===//
#include "test/evaluator/ops.h"

#include "runtime/base/philox.h"

#include <cmath>

using namespace mlir;

namespace mtc::eval {

double keepFactor(uint64_t seed, int64_t sample, int64_t layer, int64_t site,
                  int64_t element, double rate) {
  runtime::PhiloxAddress at;
  at.seed = seed;
  at.id = static_cast<uint64_t>(sample);
  at.layer = static_cast<uint32_t>(layer);
  at.site = static_cast<uint32_t>(site);
  double word = runtime::philoxWord(at, static_cast<uint64_t>(element));
  bool keep = word >= std::floor(rate * 4294967296.0);
  return keep ? static_cast<float>(1.0 / (1.0 - rate)) : 0.0;
}

static void dropout(tfm::DropoutOp op, Call &c) {
  double rate = op.getRate().convertToDouble();
  auto dimOf = [&](const char *name) {
    auto dim = op->getAttrOfType<IntegerAttr>(name);
    return dim ? dim.getInt() - 1 : -1;
  };
  int64_t parts = dimOf("dist.index_dim"), pieces = dimOf("dist.piece_dim");
  Shape sampleShape(c.out[0].shape.begin() + 1, c.out[0].shape.end());
  if (parts >= 0)
    sampleShape[parts] *= c.indexParts();
  if (pieces >= 0)
    sampleShape[pieces] *= c.pieceParts();
  forEachIndex(c.out[0].shape, [&](const Shape &index) {
    Shape inSample(index.begin() + 1, index.end());
    if (parts >= 0)
      inSample[parts] += c.indexOffset();
    if (pieces >= 0)
      inSample[pieces] = c.fromPieces(inSample[pieces]);
    c.out[0].at(index) =
        c.in[0]->at(index) *
        keepFactor(c.step.seed, c.in[1]->ints[0] + index[0], op.getRngLayer(),
                   op.getSite(), offsetOf(sampleShape, inSample), rate);
  });
}

void addRandom(Handlers &h) { on<tfm::DropoutOp>(h, dropout); }

} // namespace mtc::eval

//===- MadeGradients.cpp - gradients that a fragment makes ----------------===//
#include "passes/plan/MadeGradients.h"

using namespace mlir;

namespace mtc::passes {

static void grow(MadeBucket &bucket, Operation *user) {
  if (!bucket.first || user->isBeforeInBlock(bucket.first))
    bucket.first = user;
  if (!bucket.last || bucket.last->isBeforeInBlock(user))
    bucket.last = user;
}

FailureOr<std::map<int64_t, MadeBucket>>
gradientsMadeBy(func::FuncOp fn, rt::ProgramOp program,
                const ParamTable &params) {
  std::map<int64_t, rt::BucketOp> known;
  for (auto bucket : program.getOps<rt::BucketOp>())
    known[bucket.getIndex()] = bucket;
  std::map<int64_t, int64_t> uses; // by bucket
  for (auto param : program.getOps<rt::ParamOp>())
    ++uses[param.getBucket()];
  std::map<int64_t, MadeBucket> made;
  for (auto ref : fn.getOps<rt::RefOp>()) {
    if (ref.getKind() != rt::RefKind::Grad || !ref.getParam())
      continue;
    const ParamSlot *slot = params.find(*ref.getParam(), *ref.getUse());
    auto bucket = slot ? known.find(slot->bucket) : known.end();
    if (bucket == known.end())
      return ref.emitOpError("expected a bucket for use ")
             << *ref.getUse() << " of the parameter \"" << *ref.getParam()
             << "\", found none in this program";
    MadeBucket &found = made[slot->bucket];
    found.op = bucket->second;
    found.uses = uses[slot->bucket];
    found.refs.push_back(ref);
    for (Operation *user : ref->getUsers())
      grow(found, user);
  }
  return made;
}

} // namespace mtc::passes

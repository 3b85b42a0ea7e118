//===- proof.cpp - what was proved of a plan, in numbers ------------------===//
#include "passes/verify/proof.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// What a fragment does once, each time that it runs.
struct Work {
  int64_t collectives = 0, reads = 0;
};

Work workOf(const Fragment &fragment) {
  Work work;
  for (const Touch &touch : fragment.touches) {
    work.collectives += isa<rt::CollectiveOp>(touch.op);
    for (const Access &access : touch.accesses)
      work.reads += access.reads && access.extent.pool.has_value();
  }
  return work;
}

/// Groups with several members, of all kinds, each counted on the stage of its
/// first member.
int64_t communicatorsOf(const Mesh &mesh, int64_t ranksPerStage) {
  int64_t count = 0;
  for (const GroupInfo &group : kGroups)
    for (int64_t stage = 0; stage < mesh.stages(); ++stage) {
      int rank = mesh.moved(/*rank=*/0, MTC_AXIS_PP, static_cast<int>(stage));
      std::vector<int> members = mesh.members(rank, group.id);
      auto isHere = [&](int member) {
        return mesh.coordinate(member, MTC_AXIS_PP) == stage;
      };
      if (members.size() > 1 && isHere(members.front()))
        count += ranksPerStage / llvm::count_if(members, isHere);
    }
  return count;
}

} // namespace

Proof proofOf(const Model &model) {
  Proof proof;
  proof.ranks = model.mesh.worldSize();
  int64_t ranksPerStage = proof.ranks / model.mesh.stages();
  proof.communicators = communicatorsOf(model.mesh, ranksPerStage);
  for (const Stage &stage : model.stages) {
    std::map<const Fragment *, Work> works; // looked up only
    for (const Fragment &fragment : stage.fragments)
      works[&fragment] = workOf(fragment);
    int64_t operations = 0, reads = 0;
    for (const Row &row : stage.timelines.at("train").rows) {
      // A transfer that is posted is counted where it is waited for.
      if (row.isExchange() && !row.posts())
        operations += row.getTransfers().size();
      if (!row.fragment)
        continue;
      const Work &work = works.at(row.fragment);
      operations += 1 + work.collectives;
      reads += work.reads;
    }
    proof.operations += operations * ranksPerStage;
    proof.reads += reads * ranksPerStage;
  }
  return proof;
}

} // namespace mtc::passes::verify

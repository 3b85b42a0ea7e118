//===- split.cpp - a communicator becomes several -------------------------===//
#include "test/cuda/nccl/communicator.h"
#include "test/cuda/nccl/creations.h"
#include "test/cuda/nccl/join.h"
#include "test/cuda/nccl/results.h"

#include <algorithm>
#include <vector>

namespace mtc::standin::nccl {
namespace {

class Split : public Job {
public:
  Split(ncclComm_t parent, ncclComm_t child, int color, int key)
      : parent(parent), child(child), color(color), key(key),
        creation(noteCreation(parent->rank)) {
    of = child ? child : parent;
  }
  ncclResult_t step() override;
  std::string describe() const override;

private:
  SplitCall &callOf(int rank) const {
    return parent->shared->rank(rank).split[number % 2];
  }
  void post();
  int missingRank() const;
  ncclResult_t found();

  ncclComm_t parent, child;
  int color, key;
  uint64_t number = 0;
  bool posted = false;
  std::vector<int> members; ///< ranks of the parent
  const size_t creation;
  std::unique_ptr<Job> join;
};

std::string Split::describe() const {
  if (join)
    return join->describe();
  return "ncclCommSplit of " + parent->name + ": rank " +
         std::to_string(posted ? missingRank() : parent->rank) +
         " does not call it";
}

void Split::post() {
  posted = true;
  number = parent->splits++;
  SplitCall &mine = callOf(parent->rank);
  mine.color = color;
  mine.key = key;
  mine.idThere = 0;
  parent->shared->rank(parent->rank).splits = number + 1;
}

int Split::missingRank() const {
  for (int rank = 0; rank < parent->size; ++rank)
    if (parent->shared->rank(rank).splits <= number)
      return rank;
  return -1;
}

/// Whom this rank belongs to, and then how they meet.
ncclResult_t Split::found() {
  if (members.empty()) {
    for (int rank = 0; rank < parent->size; ++rank)
      if (callOf(rank).color == color)
        members.push_back(rank);
    std::ranges::stable_sort(members, {},
                             [&](int rank) { return callOf(rank).key; });
    auto mine = std::ranges::find(members, parent->rank);
    child->rank = int(mine - members.begin());
    child->size = int(members.size());
    nameRank(*child);
    nameMembers(creation, members);
  }
  SplitCall &leader = callOf(members.front());
  if (child->rank == 0 && !leader.idThere) {
    leader.id = Shared::create();
    leader.idThere = 1;
  }
  if (!leader.idThere)
    return ncclInProgress;
  join = makeJoin(child, leader.id, "ncclCommSplit");
  return join->step();
}

ncclResult_t Split::step() {
  if (parent->life == Life::aborted || of->life == Life::aborted)
    return refuse(ncclInternalError, "the communicator was aborted");
  if (join)
    return join->step();
  if (!posted)
    post();
  if (missingRank() >= 0)
    return ncclInProgress;
  return child ? found() : ncclSuccess;
}

} // namespace

std::unique_ptr<Job> makeSplit(ncclComm_t parent, ncclComm_t child, int color,
                               int key) {
  return std::make_unique<Split>(parent, child, color, key);
}

} // namespace mtc::standin::nccl

//===- mesh.cpp - ranks, coordinates and groups ---------------------------===//

#include "runtime/comm/comm.h"

namespace mtc::runtime {

std::array<int, 3> Mesh::coordinates(int rank) const {
  return {rank % tp, rank / tp % dp, rank / tp / dp};
}

int Mesh::rank(int tpCoord, int dpCoord, int ppCoord) const {
  return tpCoord + tp * (dpCoord + dp * ppCoord);
}

static std::vector<int> embeddingMembers(const Mesh &mesh, int t, int d,
                                         int p) {
  if (p != 0 && p != mesh.pp - 1)
    return {};
  if (mesh.pp == 1)
    return {mesh.rank(t, d, 0)};
  return {mesh.rank(t, d, 0), mesh.rank(t, d, mesh.pp - 1)};
}

std::vector<int> Mesh::members(int rank, MtcGroup group) const {
  auto [t, d, p] = coordinates(rank);
  std::vector<int> ranks;
  switch (group) {
  case MTC_GROUP_TP:
    for (int i = 0; i < tp; ++i)
      ranks.push_back(this->rank(i, d, p));
    break;
  case MTC_GROUP_DP:
    for (int i = 0; i < dp; ++i)
      ranks.push_back(this->rank(t, i, p));
    break;
  case MTC_GROUP_EMBD:
    return embeddingMembers(*this, t, d, p);
  case MTC_GROUP_ALL:
    for (int i = 0; i < worldSize(); ++i)
      ranks.push_back(i);
    break;
  case MTC_GROUP_COUNT:
    break;
  }
  return ranks;
}

} // namespace mtc::runtime

//===- launch_place.h - which rank a process was started as -----*- C++ -*-===//
//
// Whoever starts many processes tells each its rank by the environment, in
// words of its own. A family is the words of one.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_RENDEZVOUS_LAUNCH_PLACE_H
#define MTC_RUNTIME_RENDEZVOUS_LAUNCH_PLACE_H

#include "runtime/base/status.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// What options say, which nothing else overrules.
struct GivenPlace {
  std::optional<int> rank, world;
  std::string master; ///< HOST or HOST:PORT of rank 0
};

struct LaunchPlace {
  int rank = 0, world = 1;
  /// On its host, as far as the launcher says; -1: it does not.
  int localRank = -1, localSize = -1;
  std::string family; ///< "torchrun"; empty: nobody said anything
  /// Where rank 0 listens; empty and 0: the launcher does not say.
  std::string master;
  int port = 0;

  bool launched() const { return !family.empty(); }
  bool onOneHost() const { return localSize == world; }
};

/// Empty: it is not set.
using Environment =
    std::function<std::optional<std::string>(const std::string &)>;
Environment processEnvironment();

/// Options, then MTC_*, torchrun, Open MPI, PMI (MPICH's mpiexec), Slurm; Slurm
/// only where no other family speaks, as these run inside its steps. Errors:
/// usage, when two families disagree, both named; when a family says half of
/// it, or a launcher that is none of them speaks PMIx only: each rank would be
/// a run of its own; and when a number is none.
Status findPlace(const GivenPlace &given, const Environment &environment,
                 LaunchPlace &out);

/// "a[01-03,7],b": a01 a02 a03 a7 b. The first `most` of them. Errors: usage,
/// what is no list of Slurm's.
Status expandNodes(std::string_view list, size_t most,
                   std::vector<std::string> &out);

/// Of "4(x2),3", tasks of each node: that of node `index`; -1: none.
int tasksOfNode(std::string_view list, int index);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RENDEZVOUS_LAUNCH_PLACE_H

//===- mpi_parts.cpp - libraries of MPI -----------------------------------===//

#include "runtime/comm/mpi/load.h"
#include "runtime/inspect/machine_parts.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

/// Loads it in a process of its own, which tells the problem; empty: none.
std::string loadProblem(const std::string &folder, const MpiLibrary &library) {
  int ends[2];
  if (pipe(ends) != 0)
    return "this process has no descriptor left";
  const pid_t child = fork();
  if (child == 0) {
    const MpiEngine *engine = nullptr;
    const std::string problem = loadMpi(folder, library, engine).message();
    (void)!write(ends[1], problem.data(), problem.size());
    _exit(problem.empty() ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  close(ends[1]);
  std::string problem;
  char part[512];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
    problem.append(part, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status == 0)
    return child < 0 ? "no process could be started" : problem;
  return problem.empty() ? "its library ends the process that loads it"
                         : problem;
}

} // namespace

std::vector<MachinePart> mpiParts(const std::string &folder) {
  std::vector<MachinePart> parts;
  for (const MpiLibrary &library : kMpiLibraries) {
    std::string problem = loadProblem(folder, library);
    parts.push_back({std::string(library.title),
                     "ranks on several hosts (--comm mpi)", problem.empty(),
                     problem.empty() ? "loads" : problem});
  }
  return parts;
}

} // namespace mtc::runtime

//===- mpi_parts.cpp - libraries of MPI -----------------------------------===//

#include "runtime/comm/mpi/load.h"
#include "runtime/inspect/machine_parts.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

/// In a process of its own, which tells why not; nothing: it loads.
std::string whyNot(const std::string &folder, const MpiLibrary &library) {
  int ends[2];
  if (pipe(ends) != 0)
    return "this process has no descriptor left";
  const pid_t child = fork();
  if (child == 0) {
    const MpiEngine *engine = nullptr;
    const std::string why = loadMpi(folder, library, engine).message();
    (void)!write(ends[1], why.data(), why.size());
    _exit(why.empty() ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  close(ends[1]);
  std::string why;
  char part[512];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
    why.append(part, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status == 0)
    return child < 0 ? "no process could be started" : why;
  return why.empty() ? "its library ends the process that loads it" : why;
}

} // namespace

std::vector<MachinePart> mpiParts(const std::string &folder) {
  std::vector<MachinePart> parts;
  for (const MpiLibrary &library : kMpiLibraries) {
    std::string why = whyNot(folder, library);
    parts.push_back({std::string(library.title),
                     "ranks on several hosts (--comm mpi)", why.empty(),
                     why.empty() ? "loads" : why});
  }
  return parts;
}

} // namespace mtc::runtime

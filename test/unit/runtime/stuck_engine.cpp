//===- stuck_engine.cpp - an MPI library that never begins ----------------===//
//
// As MPICH, it asks where ranks meet, and ends the process when the socket that
// it asks by ends.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/engine.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {

constexpr int kLostItsSocket = 77;

int neverBegins(int *, int *) {
  const char *fd = std::getenv("PMI_FD");
  int socket = fd ? std::atoi(fd) : -1;
  const char ask[] = "cmd=barrier_in\n";
  char answer[256];
  while (socket >= 0 && write(socket, ask, std::strlen(ask)) > 0 &&
         read(socket, answer, sizeof answer) > 0)
    sleep(1);
  if (socket >= 0)
    _exit(kLostItsSocket);
  for (;;)
    pause();
}

} // namespace

extern "C" __attribute__((visibility("default")))
const MpiEngine mtc_mpi_engine = {kMpiEngineVersion, nullptr, neverBegins,
                                  nullptr,           nullptr, nullptr,
                                  nullptr,           nullptr};

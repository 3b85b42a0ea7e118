//===- stuck_engine.cpp - an MPI library that never begins ----------------===//

#include "runtime/comm/mpi/engine.h"

#include <unistd.h>

namespace {

int neverBegins(int *, int *) {
  for (;;)
    pause();
}

} // namespace

extern "C" __attribute__((visibility("default")))
const MpiEngine mtc_mpi_engine = {kMpiEngineVersion, nullptr, neverBegins,
                                  nullptr,           nullptr, nullptr,
                                  nullptr,           nullptr};

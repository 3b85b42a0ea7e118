//===- mpi_gives_up.cpp - an MPI library that aborts ----------------------===//
//
// Preloaded: MPI_Test aborts, as libraries do in a call to a peer whose memory
// is gone, once the file that MTC_GIVE_UP names is there.
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) int
MPI_Test(void *request, int *done, void *status) {
  using Function = int (*)(void *, int *, void *);
  static auto *test =
      reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "PMPI_Test"));
  static const char *file = std::getenv("MTC_GIVE_UP");
  if (file && access(file, F_OK) == 0) {
    std::fputs("a backtrace of the library\n", stderr);
    std::abort();
  }
  return test(request, done, status);
}

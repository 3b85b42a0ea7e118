//===- engine.cpp - the one source that knows MPI -------------------------===//
//
// Compiled once per library; see engine.h.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/engine.h"

// C++ bindings, which some libraries still have, would be linked in.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstring>

namespace {

static_assert(sizeof(MPI_Request) <= sizeof(MpiRequest));

/// Apart from whatever else this process might do with MPI.
MPI_Comm world = MPI_COMM_NULL;

MPI_Request *requestOf(MpiRequest *request) {
  return reinterpret_cast<MPI_Request *>(&request->word);
}

void name(char *text, int64_t bytes) {
  char all[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(all, &length);
  std::strncpy(text, all, size_t(bytes) - 1);
  text[bytes - 1] = '\0';
  text[std::strcspn(text, "\n")] = '\0';
}

int initialize(int *rank, int *size) {
  int found = 0;
  int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &found);
  if (error != MPI_SUCCESS)
    return error;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (found < MPI_THREAD_SERIALIZED)
    return MPI_ERR_OTHER;
  error = MPI_Comm_dup(MPI_COMM_WORLD, &world);
  if (error == MPI_SUCCESS)
    error = MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  if (error == MPI_SUCCESS)
    error = MPI_Comm_rank(world, rank);
  return error == MPI_SUCCESS ? MPI_Comm_size(world, size) : error;
}

int finalize() { return MPI_Finalize(); }

int send(const void *data, int64_t bytes, int to, int tag,
         MpiRequest *request) {
  return MPI_Isend(data, int(bytes), MPI_BYTE, to, tag, world,
                   requestOf(request));
}

int receive(void *data, int64_t bytes, int from, int tag, MpiRequest *request) {
  return MPI_Irecv(data, int(bytes), MPI_BYTE, from, tag, world,
                   requestOf(request));
}

int test(MpiRequest *request, int *done) {
  return MPI_Test(requestOf(request), done, MPI_STATUS_IGNORE);
}

void explain(int error, char *text, int64_t bytes) {
  char all[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(error, all, &length) != MPI_SUCCESS)
    std::strcpy(all, "an error that MPI has no words for");
  std::strncpy(text, all, size_t(bytes) - 1);
  text[bytes - 1] = '\0';
}

} // namespace

extern "C" __attribute__((visibility("default")))
const MpiEngine mtc_mpi_engine = {
    kMpiEngineVersion, name, initialize, finalize, send,
    receive,           test, explain};

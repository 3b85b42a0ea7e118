//===- engine.h - what is asked of an MPI library ---------------*- C++ -*-===//
//
// Neither mtc nor compiled programs are linked with MPI: its libraries have no
// common binary interface. This one does, and is small; engine.cpp is compiled
// once for each library, against its mpi.h, into a shared object that is opened
// at run time. MPI moves bytes between ranks here, and does nothing else.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_MPI_ENGINE_H
#define MTC_RUNTIME_COMM_MPI_ENGINE_H

#include <cstdint>

/// Goes up by one with any change below.
inline constexpr uint32_t kMpiEngineVersion = 1;
/// A message has at most so many bytes, as MPI counts with int.
inline constexpr int64_t kMostMessageBytes = int64_t(1) << 30;
/// The name under which a shared object has its MpiEngine.
inline constexpr const char *kMpiEngineSymbol = "mtc_mpi_engine";

/// A message on its way, as the library knows it. Plain data of the library's.
struct MpiRequest {
  uint64_t word = 0;
};

/// One call at a time, from any thread. An int that a function returns is 0 or
/// an error for `explain`.
struct MpiEngine {
  uint32_t version; ///< kMpiEngineVersion
  /// The library's own words for itself, its first line.
  void (*name)(char *text, int64_t bytes);
  /// Once in a process. Collective over the ranks that were started together.
  int (*initialize)(int *rank, int *world);
  /// Collective; only when nothing is on its way.
  int (*finalize)();
  /// Begins to send or to receive; the buffer is MPI's until `test` says that
  /// it is done. Messages of one pair of ranks and one tag arrive in order. A
  /// message that is longer than what it is received in is an error there.
  int (*send)(const void *data, int64_t bytes, int to, int tag,
              MpiRequest *request);
  int (*receive)(void *data, int64_t bytes, int from, int tag,
                 MpiRequest *request);
  /// Whether it is done. Lets all messages go on.
  int (*test)(MpiRequest *request, int *done);
  void (*explain)(int error, char *text, int64_t bytes);
};

#endif // MTC_RUNTIME_COMM_MPI_ENGINE_H

//===- bench_mpi.cpp - collectives over MPI beside the library's own ------===//
//
// usage: mpiexec -n RANKS bench_mpi
//
// All-reduce, reduce-scatter and all-gather of fp32 buffers from 1 KB to 64 MB.
// A row is the median over repeats of the slowest rank's time, of ours and, in
// turns with it, of MPI_Allreduce, MPI_Reduce_scatter_block and MPI_Allgather
// in place. Theirs may add in any order and do not compare what members call.
//
//===----------------------------------------------------------------------===//
#include "runtime/comm/mpi/mpi_communicator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <vector>

extern "C" const MpiEngine mtc_mpi_engine;

using namespace mtc;
using namespace mtc::runtime;

namespace {

constexpr int64_t kLargest = int64_t{64} << 20;
const char *const kNames[] = {"all-reduce", "reduce-scatter", "all-gather"};

/// Nobody fails here.
class Quiet final : public Alarm {
public:
  void raise(const Status &status, std::span<const int>) override {
    std::fprintf(stderr, "bench_mpi: %s\n", status.message().c_str());
    std::_Exit(1);
  }
  bool raised() const override { return false; }
  Status verdict() const override { return {}; }
  void listen(std::function<void()>) override {}
};

struct Bench {
  MpiCommunicator &comm;
  std::vector<float> &buffer;
  int ranks;

  /// `bytes` is the whole buffer in all three.
  void ours(int which, int64_t bytes) {
    int64_t count = bytes / 4, part = count / ranks;
    Status status =
        which == 0 ? comm.allReduce(MTC_GROUP_ALL, MTC_SUM, MTC_F32,
                                    buffer.data(), count)
        : which == 1
            ? comm.reduceScatter(MTC_GROUP_ALL, MTC_F32, buffer.data(), part)
            : comm.allGather(MTC_GROUP_ALL, MTC_F32, buffer.data(), part);
    if (!status.ok())
      std::_Exit(1);
  }
  void theirs(int which, int64_t bytes) {
    int count = int(bytes / 4), part = count / ranks;
    if (which == 0)
      MPI_Allreduce(MPI_IN_PLACE, buffer.data(), count, MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
    else if (which == 1)
      MPI_Reduce_scatter_block(MPI_IN_PLACE, buffer.data(), part, MPI_FLOAT,
                               MPI_SUM, MPI_COMM_WORLD);
    else
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_FLOAT, buffer.data(), part, MPI_FLOAT,
                    MPI_COMM_WORLD);
  }
  /// Of the slowest rank.
  template <typename Call> double time(Call call) {
    MPI_Barrier(MPI_COMM_WORLD);
    double spent = -MPI_Wtime();
    call();
    spent += MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, &spent, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return spent;
  }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(),
                   values.begin() + ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void row(Bench &bench, int which, int64_t bytes, bool prints) {
  int repeats = bytes >= (int64_t{16} << 20) ? 5 : 31;
  std::vector<double> ours, theirs;
  for (int i = -2; i < repeats; ++i) { // two to warm up
    std::fill(bench.buffer.begin(), bench.buffer.end(), 1.0F);
    double own = bench.time([&] { bench.ours(which, bytes); });
    double other = bench.time([&] { bench.theirs(which, bytes); });
    if (i >= 0) {
      ours.push_back(own);
      theirs.push_back(other);
    }
  }
  if (prints)
    std::printf("%-15s %d ranks %8lld KB %12.1f us   MPI's %12.1f us   ratio "
                "%6.2f\n",
                kNames[which], bench.ranks, (long long)(bytes >> 10),
                median(ours) * 1e6, median(theirs) * 1e6,
                median(ours) / median(theirs));
  std::fflush(stdout);
}

} // namespace

int main() {
  int rank = 0, ranks = 1;
  if (mtc_mpi_engine.initialize(&rank, &ranks) != 0)
    return 1;
  std::vector<float> buffer(size_t(kLargest) / 4);
  ArenaViews arenas{};
  arenas[MTC_ARENA_GRADS] = {buffer.data(), kLargest};
  Mesh mesh;
  mesh[MTC_AXIS_DP] = ranks;
  Quiet quiet;
  {
    MpiCommunicator comm(mtc_mpi_engine, quiet, mesh, rank, arenas);
    Bench bench{comm, buffer, ranks};
    for (int which = 0; which < 3; ++which)
      for (int64_t bytes = 1 << 10; bytes <= kLargest; bytes *= 4)
        row(bench, which, bytes, rank == 0);
  }
  mtc_mpi_engine.finalize();
  return 0;
}

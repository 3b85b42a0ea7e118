//===- worlds.h - the same test on every backend ----------------*- C++ -*-===//
#ifndef MTC_TEST_CONFORMANCE_COMM_WORLDS_H
#define MTC_TEST_CONFORMANCE_COMM_WORLDS_H

#include "runtime/comm/comm.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace mtc::test {

/// mpi: by MPICH; hosts: the same, where each two ranks share the memory of a
/// host; openmpi: by Open MPI, under its launcher, where this machine has both.
/// nccl: between GPUs, of which the stand-ins of CUDA have one for all ranks.
enum class Backend { threads, threadsStrict, shm, mpi, hosts, openmpi, nccl };
inline const Backend kBackends[] = {
    Backend::threads, Backend::threadsStrict, Backend::shm,
    Backend::mpi,     Backend::hosts,
#ifdef MTC_OPENMPI_LAUNCHER
    Backend::openmpi,
#endif
#ifdef MTC_WITH_NCCL
    Backend::nccl,
#endif
};
std::string backendName(const ::testing::TestParamInfo<Backend> &info);

/// What a test sees of the rank that it runs as.
struct Rank {
  int rank;
  runtime::Mesh mesh;
  runtime::Communicator &comm;
  std::span<const runtime::ArenaView> arenas;
  /// Ends this rank without a word: a process by SIGKILL; a thread returns, and
  /// the world is told as a launcher would be. Return its result at once.
  std::function<std::string()> die;
  /// As comm.h promises. If not, sums of more than two ranks have an order of
  /// their own, each addition rounded to the type, and integers that are added
  /// are those of the norm; and nobody reads sums as they are made.
  bool addsInRankOrder = true;

  char *arena(int kind) const { return static_cast<char *>(arenas[kind].base); }
};

/// Transfers of a channel that a rank may have begun and not ended.
inline constexpr int kPosted = 128;

// Far above what any test needs, so that load cannot make a test fail.
inline constexpr auto kPatience = std::chrono::seconds(60);
/// Of a rank's result at most so much comes from another process.
inline constexpr size_t kResultBytes = 8192;

/// What one rank does; returns what went wrong, or "".
using Body = std::function<std::string(Rank &)>;

/// Runs `body` as every rank. Each arena has `arenaBytes` bytes. Returns the
/// results by rank; "killed" for a rank that died. A world that is not done
/// after a minute is broken up, and its ranks say "timed out".
std::vector<std::string> runWorld(Backend backend, const runtime::Mesh &mesh,
                                  int64_t arenaBytes, const Body &body);

/// Expects that every rank returned "".
void expectAllWell(Backend backend, const runtime::Mesh &mesh,
                   int64_t arenaBytes, const Body &body);

/// "" or the Status as text with its code first: "14 transfer mismatch ...".
std::string text(const runtime::Status &status);

#define MTC_EXPECT_OK(expr)                                                    \
  do {                                                                         \
    if (std::string text_ = ::mtc::test::text(expr); !text_.empty())           \
      return std::string(#expr ": ") + text_;                                  \
  } while (false)

} // namespace mtc::test
#endif // MTC_TEST_CONFORMANCE_COMM_WORLDS_H

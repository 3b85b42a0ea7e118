//===- pmi.h - MPI's start without a process manager ------------*- C++ -*-===//
//
// An MPI library learns from who started it how many ranks there are, and gives
// it what other ranks must know to connect: PMI-1, lines of text on a socket
// that the environment names. MPICH speaks it. Here the rank itself answers, by
// what the job's control channel gathers, so that MPI starts wherever ranks do:
// under mtc's own launcher, torchrun or a plain srun.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_MPI_PMI_H
#define MTC_RUNTIME_COMM_MPI_PMI_H

#include "runtime/base/status.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// What a rank gives all others, and gets of them, by rank (ControlChannel).
using Gather = std::function<Status(const std::string &own,
                                    std::vector<std::string> &all)>;

/// Answers one line of PMI-1. Apart from sockets, for tests.
class PmiTable {
public:
  PmiTable(int rank, int world, Gather gather)
      : rank_(rank), world_(world), gather_(std::move(gather)) {}
  /// The line to send back, with its end; empty: none. Errors: those of the
  /// gathering.
  Status answer(std::string_view line, std::string &out);
  /// Set by the library's "abort". It said why on standard error, and waits to
  /// be ended from then on, forever.
  const std::atomic<bool> &gaveUp() const { return gaveUp_; }

private:
  Status meet();
  int rank_, world_;
  Gather gather_;
  std::map<std::string, std::string> own_, all_;
  std::atomic<bool> gaveUp_ = false;
};

/// Answers this process's MPI library while it lives. Sets PMI_FD, PMI_RANK and
/// PMI_SIZE in the environment: once, before MPI begins. A library that gets no
/// answer waits, but one whose socket ends may end the process: so that stays
/// open, whatever happens, until the process ends.
class PmiServer {
public:
  /// Errors: failed, without descriptors or a thread.
  static Status start(int rank, int world, Gather gather,
                      std::unique_ptr<PmiServer> &out);
  /// Waits for a gathering that goes on.
  ~PmiServer();
  PmiServer(const PmiServer &) = delete;
  PmiServer &operator=(const PmiServer &) = delete;

  /// PmiTable::gaveUp.
  bool gaveUp() const;
  /// Ok until a gathering fails; then why: the library gets no more answers.
  Status failure() const;
  /// Either of these: it will not return from the call that it is in.
  bool isOver() const { return gaveUp() || !failure().ok(); }

private:
  struct State;
  explicit PmiServer(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_; ///< the thread's, too
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_MPI_PMI_H

//===- world.cpp - starts the ranks of a world ----------------------------===//
#include "test/cuda/nccl/harness.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mtc::standin::nccl::test {
namespace {

std::string contents(int file) {
  std::string text(size_t(lseek(file, 0, SEEK_END)), 0);
  [[maybe_unused]] ssize_t got = pread(file, text.data(), text.size(), 0);
  close(file);
  return text;
}

std::string ofDescriptor(int file) {
  return "/proc/self/fd/" + std::to_string(file);
}

/// What a rank finds in its environment. A host name of its own for each, as
/// where several real ranks share one GPU.
std::map<std::string, std::string> environmentOf(const Setting &setting,
                                                 int rank, int board, int said,
                                                 int noted) {
  std::map<std::string, std::string> all{
      {"LD_LIBRARY_PATH", MTC_STAND_INS},
      {"NCCL_HOSTID", "host-" + std::to_string(rank)},
      {"MTC_STANDIN_SEED", std::to_string(setting.seed)},
      {"MTC_STANDIN_REPORT", ofDescriptor(said)},
      {"MTC_STANDIN_IDLE", "0.05"},
      {"MTC_STANDIN_PATIENCE", "20"},
      {"MTC_TEST_RANK", std::to_string(rank)},
      {"MTC_TEST_RANKS", std::to_string(setting.ranks)},
      {"MTC_TEST_BOARD", std::to_string(board)},
      {"MTC_TEST_NOTE", std::to_string(noted)}};
  for (const auto &[name, value] : setting.environment)
    all[name] = value;
  return all;
}

} // namespace

World::World(const std::string &program, Setting given)
    : setting(std::move(given)), board(memfd_create("board", 0)) {
  if (ftruncate(board, sizeof(Board)))
    std::abort();
  for (int rank = 0; rank < setting.ranks; ++rank) {
    Process process{-1, memfd_create("said", 0), memfd_create("noted", 0)};
    process.id = fork();
    if (process.id == 0) {
      for (const auto &[name, value] :
           environmentOf(setting, rank, board, process.said, process.noted))
        setenv(name.c_str(), value.c_str(), 1);
      execl("/proc/self/exe", "rank", "--rank", program.c_str(), nullptr);
      _exit(127);
    }
    processes.push_back(process);
  }
}

World::~World() { close(board); }

Outcome World::outcome() {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::duration<double>(setting.limit);
  Outcome outcome;
  for (const Process &each : processes) {
    int status = 0;
    while (waitpid(each.id, &status, WNOHANG) == 0) {
      if (Clock::now() > end)
        kill(each.id, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    outcome.ranks.push_back({WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                             WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                             contents(each.said), contents(each.noted)});
  }
  processes.clear();
  return outcome;
}

Outcome run(const std::string &program, Setting setting) {
  return World(program, std::move(setting)).outcome();
}

bool Outcome::ended() const {
  for (const RankOutcome &each : ranks)
    if (each.code || each.signal)
      return false;
  return true;
}

bool Outcome::good() const {
  for (const RankOutcome &each : ranks)
    if (!each.said.empty())
      return false;
  return ended();
}

bool Outcome::has(const std::string &text) const {
  for (const RankOutcome &each : ranks)
    if (each.said.find(text) != std::string::npos)
      return true;
  return false;
}

std::string Outcome::text() const {
  std::string all;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    all += "\nrank " + std::to_string(rank) + ": code " +
           std::to_string(ranks[rank].code) + ", signal " +
           std::to_string(ranks[rank].signal) + ", note '" + ranks[rank].note +
           "', said '" + ranks[rank].said + "'";
  return all;
}

} // namespace mtc::standin::nccl::test

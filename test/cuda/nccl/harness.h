//===- harness.h - programs of several ranks --------------------*- C++ -*-===//
//
// A program is a function that runs in each rank of a world. Ranks are
// processes of their own (fork and exec of this program), which load the driver
// and NCCL by name, as a product does.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_NCCL_HARNESS_H
#define MTC_TEST_CUDA_NCCL_HARNESS_H

#include "test/cuda/nccl/libraries.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mtc::standin::nccl::test {

//===- The test's side ----------------------------------------------------===//

struct Setting {
  int ranks = 2;
  uint64_t seed = 1;
  std::map<std::string, std::string> environment = {};
  double limit = 30; ///< seconds, after which the ranks are killed
};

struct RankOutcome {
  int code = -1;    ///< 0: the program came to its end
  int signal = 0;   ///< that ended it, or 0
  std::string said; ///< reports of the stand-ins
  std::string note; ///< what the program said by note, or why it failed
};

struct Outcome {
  std::vector<RankOutcome> ranks;

  /// All came to their end, and the stand-ins said nothing.
  bool good() const;
  /// All came to their end.
  bool ended() const;
  /// A report of some rank has this.
  bool has(const std::string &text) const;
  std::string text() const;
};

/// A world that runs.
class World {
public:
  World(const std::string &program, Setting setting);
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;
  /// Waits for it.
  Outcome outcome();

private:
  struct Process {
    int id, said, noted;
  };
  std::vector<Process> processes;
  Setting setting;
  int board;
};

Outcome run(const std::string &program, Setting setting = {});

//===- The program's side -------------------------------------------------===//

/// What ranks share beside NCCL.
struct Board {
  std::atomic<int> arrived, rounds;
  std::atomic<int> ids; ///< that are there
  ncclUniqueId id[16];
  std::atomic<int> flag[16];
};

/// One rank, with a device, two non-blocking streams and the libraries.
class Rank {
public:
  Rank();

  int rank = 0, size = 1;
  Board *board = nullptr;
  Driver cu;
  Nccl nccl;
  CUcontext context = nullptr;
  CUstream s = nullptr, t = nullptr;

  /// Waits for all ranks, without a library.
  void barrier();
  /// All ranks get one id, made by rank 0 of the world.
  ncclUniqueId id();
  ncclComm_t communicator(ncclConfig_t *config = nullptr);

  CUdeviceptr empty(size_t bytes);
  CUdeviceptr bytes(const void *data, size_t bytes);
  /// Elements of 4 bytes, all of one value.
  CUdeviceptr floats(size_t count, float value);
  std::vector<float> get(CUdeviceptr address, size_t count);
  void get(CUdeviceptr address, void *data, size_t bytes);
  /// Waits by asking, for this long; CUDA_ERROR_NOT_READY if it took longer.
  CUresult await(CUstream stream, double seconds);
  ncclResult_t asyncError(ncclComm_t comm);
  /// The same, until it is another than ncclInProgress.
  ncclResult_t settle(ncclComm_t comm);

  /// All-reduces of floats in place, in a stream.
  ncclResult_t sum(CUdeviceptr x, size_t count, ncclComm_t comm,
                   CUstream stream);
  /// Makes the connections of collectives.
  void warm(ncclComm_t comm);
};

/// The default, with the one field that programs change most.
ncclConfig_t configuration(bool blocking = true);

void note(const std::string &text);
[[noreturn]] void fail(const std::string &why);
void expect(int found, int expected, const char *call, int line);
void expectTrue(bool holds, const char *what, int line);

#define MTC_IS(expected, call)                                                 \
  ::mtc::standin::nccl::test::expect(int(call), int(expected), #call, __LINE__)
#define MTC_OK(call) MTC_IS(0, call)
#define MTC_TRUE(what)                                                         \
  ::mtc::standin::nccl::test::expectTrue(bool(what), #what, __LINE__)

using Program = void (*)(Rank &);
bool registerProgram(const char *name, Program program);

/// MTC_PROGRAM(name) { ... self ... }
#define MTC_PROGRAM(name)                                                      \
  static void name(::mtc::standin::nccl::test::Rank &self);                    \
  [[maybe_unused]] static const bool name##Registered =                        \
      ::mtc::standin::nccl::test::registerProgram(#name, name);                \
  static void name([[maybe_unused]] ::mtc::standin::nccl::test::Rank &self)

} // namespace mtc::standin::nccl::test
#endif // MTC_TEST_CUDA_NCCL_HARNESS_H

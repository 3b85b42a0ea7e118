//===- harness.cpp - programs of several ranks ----------------------------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

namespace mtc::standin::nccl::test {
namespace {

std::map<std::string, Program> &programs() {
  static std::map<std::string, Program> all;
  return all;
}

int number(const char *variable) {
  const char *text = std::getenv(variable);
  return text ? std::atoi(text) : -1;
}

void pause() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

int runRank(const char *name) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto found = programs().find(name);
  if (found == programs().end())
    fail(std::string("no program ") + name);
  // Kept: what a product never frees is the operating system's to free.
  auto *self = new Rank;
  found->second(*self);
  return 0;
}

} // namespace

bool registerProgram(const char *name, Program program) {
  return programs().emplace(name, program).second;
}

ncclConfig_t configuration(bool blocking) {
  ncclConfig_t made = NCCL_CONFIG_INITIALIZER;
  made.blocking = blocking;
  return made;
}

void note(const std::string &text) {
  [[maybe_unused]] ssize_t put =
      write(number("MTC_TEST_NOTE"), text.data(), text.size());
}

void fail(const std::string &why) {
  note(why);
  _exit(1);
}

void expect(int found, int expected, const char *call, int line) {
  if (found != expected)
    fail(std::string(call) + ", line " + std::to_string(line) + ": expected " +
         std::to_string(expected) + ", found " + std::to_string(found));
}

void expectTrue(bool holds, const char *what, int line) {
  if (!holds)
    fail(std::string(what) + " does not hold, line " + std::to_string(line));
}

Rank::Rank() : rank(number("MTC_TEST_RANK")), size(number("MTC_TEST_RANKS")) {
  void *shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                      MAP_SHARED, number("MTC_TEST_BOARD"), 0);
  MTC_TRUE(shared != MAP_FAILED);
  board = static_cast<Board *>(shared);
  for (const std::string &wrong : {cu.load(), nccl.load()})
    if (!wrong.empty())
      fail(wrong);
  MTC_OK(cu.cuInit(0));
  MTC_OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
  MTC_OK(cu.cuCtxSetCurrent(context));
  for (CUstream *each : {&s, &t})
    MTC_OK(cu.cuStreamCreate(each, CU_STREAM_NON_BLOCKING));
}

void Rank::barrier() {
  int round = board->rounds;
  if (++board->arrived == size) {
    board->arrived = 0;
    ++board->rounds;
  }
  while (board->rounds == round)
    pause();
}

ncclUniqueId Rank::id() {
  static int made = 0;
  int mine = made++;
  if (rank == 0) {
    MTC_OK(nccl.ncclGetUniqueId(&board->id[mine]));
    board->ids = mine + 1;
  }
  while (board->ids <= mine)
    pause();
  return board->id[mine];
}

ncclComm_t Rank::communicator(ncclConfig_t *config) {
  ncclComm_t comm = nullptr;
  MTC_OK(nccl.ncclCommInitRankConfig(&comm, size, id(), rank, config));
  return comm;
}

CUdeviceptr Rank::empty(size_t bytes) {
  CUdeviceptr address = 0;
  MTC_OK(cu.cuMemAlloc(&address, bytes));
  return address;
}

CUdeviceptr Rank::bytes(const void *data, size_t count) {
  CUdeviceptr address = empty(count);
  MTC_OK(cu.cuMemcpyHtoDAsync(address, data, count, s));
  MTC_OK(cu.cuStreamSynchronize(s));
  return address;
}

CUdeviceptr Rank::floats(size_t count, float value) {
  std::vector<float> all(count, value);
  return bytes(all.data(), 4 * count);
}

void Rank::get(CUdeviceptr address, void *data, size_t bytes) {
  MTC_OK(cu.cuStreamSynchronize(s));
  MTC_OK(cu.cuStreamSynchronize(t));
  MTC_OK(cu.cuMemcpyDtoH(data, address, bytes));
}

std::vector<float> Rank::get(CUdeviceptr address, size_t count) {
  std::vector<float> values(count);
  get(address, values.data(), 4 * count);
  return values;
}

CUresult Rank::await(CUstream stream, double limit) {
  double since = seconds();
  for (;;) {
    CUresult result = cu.cuStreamQuery(stream);
    if (result != CUDA_ERROR_NOT_READY || seconds() - since > limit)
      return result;
    pause();
  }
}

ncclResult_t Rank::asyncError(ncclComm_t comm) {
  ncclResult_t error = ncclSuccess;
  MTC_OK(nccl.ncclCommGetAsyncError(comm, &error));
  return error;
}

ncclResult_t Rank::settle(ncclComm_t comm) {
  for (;;) {
    ncclResult_t error = asyncError(comm);
    if (error != ncclInProgress)
      return error;
    pause();
  }
}

ncclResult_t Rank::sum(CUdeviceptr x, size_t count, ncclComm_t comm,
                       CUstream stream) {
  return nccl.ncclAllReduce(
      reinterpret_cast<void *>(x), reinterpret_cast<void *>(x), count,
      ncclFloat32, ncclSum, comm, reinterpret_cast<cudaStream_t>(stream));
}

void Rank::warm(ncclComm_t comm) {
  CUdeviceptr x = floats(4, 1);
  MTC_OK(sum(x, 4, comm, s));
  MTC_OK(cu.cuStreamSynchronize(s));
  barrier();
}

} // namespace mtc::standin::nccl::test

int main(int count, char **arguments) {
  if (count == 3 && !std::strcmp(arguments[1], "--rank"))
    return mtc::standin::nccl::test::runRank(arguments[2]);
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}

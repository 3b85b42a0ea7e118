//===- harness.cpp - programs that run under the stand-in -----------------===//
#include "test/cuda/driver/harness.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mtc::standin::test {
namespace {

int noteFile = -1; ///< of the child

std::string contents(int file) {
  std::string text(size_t(lseek(file, 0, SEEK_END)), 0);
  [[maybe_unused]] ssize_t got = pread(file, text.data(), text.size(), 0);
  close(file);
  return text;
}

} // namespace

const char kKernels[] = R"(
.version 7.8
.target sm_80
.address_size 64

.visible .entry axpy(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 a)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [n];
  ld.param.f32 %f1, [a];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra end;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  ld.global.f32 %f3, [%rd5];
  fma.rn.f32 %f4, %f1, %f3, %f2;
  st.global.f32 [%rd4], %f4;
end:
  ret;
}

.visible .entry fixed(.param .u64 p) .reqntid 64
{
  ret;
}

.visible .entry store(.param .u64 p, .param .u32 v)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [v];
  st.global.u32 [%rd1], %r1;
  ret;
}

.visible .entry endless()
{
again:
  bra again;
}
)";

Outcome run(const std::function<void()> &program, uint64_t seed) {
  int said = memfd_create("said", 0), noted = memfd_create("noted", 0);
  pid_t child = fork();
  if (child == 0) {
    noteFile = noted;
    setenv("MTC_STANDIN_SEED", std::to_string(seed).c_str(), 1);
    setenv("MTC_STANDIN_REPORT",
           ("/proc/self/fd/" + std::to_string(said)).c_str(), 1);
    program();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          WIFSIGNALED(status) ? WTERMSIG(status) : 0, contents(said),
          contents(noted)};
}

void note(const std::string &text) {
  [[maybe_unused]] ssize_t put = write(noteFile, text.data(), text.size());
}

void fail(const std::string &why) {
  note(why);
  _exit(1);
}

void expect(CUresult found, CUresult expected, const char *call, int line) {
  if (found == expected)
    return;
  const char *one = "?", *other = "?";
  cuGetErrorName(expected, &one);
  cuGetErrorName(found, &other);
  fail(std::string(call) + ", line " + std::to_string(line) + ": expected " +
       one + ", found " + other);
}

Gpu::Gpu() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  MTC_OK(cuInit(0));
  MTC_OK(cuDeviceGet(&device, 0));
  MTC_OK(cuDevicePrimaryCtxRetain(&context, device));
  MTC_OK(cuCtxSetCurrent(context));
  for (CUstream *each : {&s, &t, &u})
    MTC_OK(cuStreamCreate(each, CU_STREAM_NON_BLOCKING));
  MTC_OK(cuModuleLoadData(&module, kKernels));
}

CUfunction Gpu::kernel(const char *name) const {
  CUfunction function = nullptr;
  MTC_OK(cuModuleGetFunction(&function, module, name));
  return function;
}

CUdeviceptr Gpu::empty(size_t bytes) const {
  CUdeviceptr address = 0;
  MTC_OK(cuMemAlloc(&address, bytes));
  return address;
}

CUdeviceptr Gpu::floats(float value) const {
  CUdeviceptr address = empty();
  unsigned bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  MTC_OK(cuMemsetD32Async(address, bits, kCount, s));
  MTC_OK(cuStreamSynchronize(s));
  return address;
}

float Gpu::first(CUdeviceptr address) const {
  float value = 0;
  MTC_OK(cuMemcpyDtoH(&value, address, sizeof value));
  return value;
}

CUresult Gpu::axpy(CUstream stream, CUdeviceptr x, CUdeviceptr y, float a,
                   int n) const {
  void *arguments[] = {&x, &y, &n, &a};
  return cuLaunchKernel(kernel("axpy"), 3, 1, 1, 32, 1, 1, 0, stream, arguments,
                        nullptr);
}

CUresult Gpu::store(CUstream stream, CUdeviceptr address,
                    unsigned value) const {
  void *arguments[] = {&address, &value};
  return cuLaunchKernel(kernel("store"), 1, 1, 1, 1, 1, 1, 0, stream, arguments,
                        nullptr);
}

CUevent Gpu::event(unsigned flags) {
  CUevent made = nullptr;
  MTC_OK(cuEventCreate(&made, flags));
  return made;
}

void Gpu::order(CUstream earlier, CUstream later) {
  CUevent point = event();
  MTC_OK(cuEventRecord(point, earlier));
  MTC_OK(cuStreamWaitEvent(later, point, 0));
  MTC_OK(cuEventDestroy(point));
}

CUgraphExec instantiate(CUgraph graph) {
  CUgraphExec exec = nullptr;
  MTC_OK(cuGraphInstantiate(&exec, graph, 0));
  return exec;
}

} // namespace mtc::standin::test

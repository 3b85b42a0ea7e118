//===- run_attention.cpp - attention kernels on a CUDA driver -------------===//
//
//   run_attention FOLDER [check [INSTANCE...]|time]
//
// runs the cases of attention_case.h, or those of some instances such as
// bf16_d64, with FOLDER/attention_ELEMENT_dDIM.cubin or, where there is none,
// .ptx: errors over their bounds, whether a second run gives the same bits,
// whether anything was written outside of the results. Then times larger
// shapes. A line of JSON each. Links no CUDA.
//
//===----------------------------------------------------------------------===//
#include "attention_run.h"

#include "test/cuda/common/driver_library.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace mtc;
using namespace mtc::test;
using cuda::AttentionKernel;

namespace {

DriverLibrary cu;

void require(CUresult result, const char *what) {
  if (std::string text = cu.said(result, what); !text.empty()) {
    std::cout << R"({"failed": ")" << text << "\"}" << std::endl;
    std::exit(1);
  }
}

#define MTC_CU(f, ...) require(cu.f##_(__VA_ARGS__), #f)

class Modules {
public:
  explicit Modules(std::string folder) : folder(std::move(folder)) {}

  /// Null after a message.
  CUfunction find(const std::string &entry, int shared) {
    CUfunction &function = functions[entry];
    if (function)
      return function;
    // Behind mtc_attention_KIND_.
    size_t kind = std::strlen("mtc_attention_");
    CUmodule module = moduleOf(entry.substr(entry.find('_', kind) + 1));
    if (!module)
      return nullptr;
    if (cu.cuModuleGetFunction_(&function, module, entry.c_str()))
      return function = nullptr;
    MTC_CU(cuFuncSetAttribute, function,
           CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared);
    say(entry, function, shared);
    return function;
  }

private:
  static void say(const std::string &entry, CUfunction function, int shared) {
    int registers = 0, local = 0, threads = 0, blocks = 0;
    MTC_CU(cuFuncGetAttribute, &registers, CU_FUNC_ATTRIBUTE_NUM_REGS,
           function);
    MTC_CU(cuFuncGetAttribute, &local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
           function);
    MTC_CU(cuFuncGetAttribute, &threads,
           CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
    MTC_CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, function,
           threads, size_t(shared));
    std::cout << R"({"kernel": ")" << entry << R"(", "registers": )"
              << registers << R"(, "local": )" << local << R"(, "shared": )"
              << shared << R"(, "threads": )" << threads << R"(, "blocks": )"
              << blocks << "}" << std::endl;
  }

  CUmodule moduleOf(const std::string &instance) {
    CUmodule &module = modules[instance];
    std::string path = folder + "/attention_" + instance;
    for (const char *ending : {".cubin", ".ptx"}) {
      std::ifstream file(path + ending, std::ios::binary);
      if (module || !file)
        continue;
      std::stringstream text;
      text << file.rdbuf();
      std::string wrong = cu.loadModule(text.str(), module);
      if (!wrong.empty())
        std::cout << R"({"failed": ")" << path << ending << ": " << wrong
                  << "\"}" << std::endl;
    }
    return module;
  }

  std::string folder;
  std::map<std::string, CUmodule> modules;
  std::map<std::string, CUfunction> functions;
};

/// Allocations lie between guards.
class Gpu : public Machine {
public:
  static constexpr size_t kGuard = 1024;

  explicit Gpu(Modules &modules) : modules(modules) {}
  ~Gpu() override { clear(); }

  uint64_t allocate(size_t bytes, const char *) override {
    CUdeviceptr base = 0;
    size_t padded = (bytes + 255) / 256 * 256;
    MTC_CU(cuMemAlloc, &base, padded + 2 * kGuard);
    MTC_CU(cuMemsetD8, base, 0xa5, padded + 2 * kGuard);
    blocks.push_back({base, bytes, padded});
    return base + kGuard;
  }
  std::string upload(uint64_t to, const void *from, size_t bytes) override {
    return cu.said(cu.cuMemcpyHtoD_(to, from, bytes), "upload");
  }
  std::string download(void *to, uint64_t from, size_t bytes) override {
    return cu.said(cu.cuMemcpyDtoH_(to, from, bytes), "download");
  }
  void clear() override {
    for (Block &b : blocks)
      cu.cuMemFree_(b.base);
    blocks.clear();
  }
  bool guardsIntact() {
    for (Block &b : blocks) {
      std::vector<uint8_t> image(b.padded + 2 * kGuard);
      MTC_CU(cuMemcpyDtoH, image.data(), b.base, image.size());
      for (size_t i = 0; i < image.size(); ++i)
        if ((i < kGuard || i >= kGuard + b.bytes) && image[i] != 0xa5)
          return false;
    }
    return true;
  }
  std::string launch(const std::string &entry, const Grid &grid,
                     const cuda::AttentionParams &params) override {
    CUfunction function = modules.find(entry, grid.shared);
    if (!function)
      return "no entry " + entry;
    auto copy = params;
    void *pointers[] = {&copy};
    return cu.said(cu.cuLaunchKernel_(function, grid.x, grid.y, grid.z,
                                      grid.threads, 1, 1, grid.shared, nullptr,
                                      pointers, nullptr),
                   entry.c_str());
  }

private:
  struct Block {
    CUdeviceptr base;
    size_t bytes, padded;
  };
  Modules &modules;
  std::vector<Block> blocks;
};

std::string runOnce(Gpu &gpu, const AttentionCase &c, const AttentionData &data,
                    CaseOnMachine::Found &found) {
  CaseOnMachine run(gpu, c, data);
  std::string wrong = run.forward();
  if (wrong.empty())
    wrong = run.backward();
  if (wrong.empty())
    wrong = cu.said(cu.cuCtxSynchronize_(), "cuCtxSynchronize");
  if (wrong.empty())
    wrong = run.read(found);
  return wrong;
}

/// False: the device is of no use any more.
bool check(Modules &modules, const AttentionCase &c) {
  Gpu gpu(modules);
  AttentionData data = makeData(c);
  CaseOnMachine::Found found, again;
  Ratios r{};
  std::string wrong = runOnce(gpu, c, data, found);
  bool intact = wrong.empty() && gpu.guardsIntact();
  bool works = wrong.empty() || wrong.rfind("no entry", 0) == 0;
  if (wrong.empty())
    wrong = runOnce(gpu, c, data, again);
  if (wrong.empty())
    wrong = compare(c, reference(c, data), found, true, r);
  std::cout << R"({"case": ")" << c.fullName() << R"(", "instance": ")"
            << instance(c) << R"(", "ok": )"
            << (wrong.empty() && intact && found == again ? "true" : "false")
            << R"(, "out": )" << r.out << R"(, "lse": )" << r.lse
            << R"(, "dq": )" << r.dq << R"(, "dk": )" << r.dk << R"(, "dv": )"
            << r.dv << R"(, "guards": )" << (intact ? "true" : "false")
            << R"(, "equal_bits": )" << (found == again ? "true" : "false")
            << R"(, "wrong": ")" << wrong << "\"}" << std::endl;
  return works;
}

template <class Launch> double microseconds(const Launch &launch) {
  static CUevent begin = nullptr, end = nullptr;
  if (!begin) {
    MTC_CU(cuEventCreate, &begin, CU_EVENT_DEFAULT);
    MTC_CU(cuEventCreate, &end, CU_EVENT_DEFAULT);
  }
  std::vector<float> times;
  for (int i = 0; i < 14; ++i) {
    MTC_CU(cuEventRecord, begin, nullptr);
    launch();
    MTC_CU(cuEventRecord, end, nullptr);
    MTC_CU(cuEventSynchronize, end);
    float ms = 0;
    MTC_CU(cuEventElapsedTime, &ms, begin, end);
    if (i >= 3)
      times.push_back(1000 * ms);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// A tensor of a timed call: what one head has, again and again.
const uint16_t *repeated(Gpu &gpu, const AttentionCase &c,
                         const std::vector<uint32_t> &values, int times) {
  std::vector<std::byte> bytes = packed(c.element, values);
  uint64_t at = gpu.allocate(bytes.size() * times, "");
  for (int i = 0; i < times; ++i)
    MTC_CU(cuMemcpyHtoD, at + i * bytes.size(), bytes.data(), bytes.size());
  return reinterpret_cast<const uint16_t *>(at);
}

void time(Modules &modules, int batch, int heads, int seq, int dim, double rate,
          Element element = Element::bf16, bool groups = false) {
  AttentionCase c;
  c.groups = groups;
  c.element = element;
  c.seq = c.keys = c.first = seq;
  c.dim = dim;
  c.causal = true;
  c.rate = rate;
  Gpu gpu(modules);
  AttentionData data = makeData(c);
  CaseOnMachine small(gpu, c, data);
  c.batch = batch;
  c.heads = c.kvHeads = heads;
  int times = batch * heads;
  cuda::AttentionParams p = small.params;
  p.q = repeated(gpu, c, data.q, times);
  p.k = repeated(gpu, c, data.k, times);
  p.v = repeated(gpu, c, data.v, times);
  p.dout = repeated(gpu, c, data.dout, times);
  for (uint16_t **result : {&p.out, &p.dq, &p.dk, &p.dv})
    *result = const_cast<uint16_t *>(repeated(gpu, c, data.q, times));
  for (float **rows : {&p.lse, &p.dots})
    *rows = reinterpret_cast<float *>(
        gpu.allocate(sizeof(float) * times * seq, ""));
  p.heads = heads;
  p.qToken = p.kToken = p.vToken = p.oToken = int64_t(heads) * dim;
  auto launch = [&](AttentionKernel kernel) {
    std::string wrong = launchKernel(gpu, kernel, c, p);
    if (!wrong.empty())
      std::cout << wrong << std::endl, std::exit(1);
  };
  auto one = [&](AttentionKernel kernel) {
    return microseconds([&] { launch(kernel); });
  };
  double forward = one(AttentionKernel::forward);
  double dots = one(AttentionKernel::dots);
  double queries = one(AttentionKernel::queries);
  double keys = one(AttentionKernel::keys);
  double backward = microseconds([&] {
    launch(AttentionKernel::dots);
    launch(AttentionKernel::queries);
    launch(AttentionKernel::keys);
  });
  double flops = 4.0 * batch * heads * seq * seq * dim / 2;
  std::cout << R"({"shape": [)" << batch << ", " << heads << ", " << seq << ", "
            << dim << R"(], "element": ")" << nameOf(element)
            << R"(", "groups": )" << (groups ? "true" : "false")
            << R"(, "dropout": )" << rate << R"(, "forward_us": )" << forward
            << R"(, "forward_tflops": )" << flops / forward * 1e-6
            << R"(, "backward_us": )" << backward << R"(, "backward_tflops": )"
            << 2.5 * flops / backward * 1e-6 << R"(, "dots_us": )" << dots
            << R"(, "queries_us": )" << queries << R"(, "keys_us": )" << keys
            << "}" << std::endl;
}

void timeAll(Modules &modules) {
  for (double rate : {0.0, 0.1}) {
    for (bool groups : {false, true}) {
      time(modules, 8, 12, 1024, 64, rate, Element::bf16, groups);
      time(modules, 8, 20, 1024, 64, rate, Element::bf16, groups);
    }
    time(modules, 4, 32, 2048, 128, rate);
    if (rate == 0)
      time(modules, 1, 32, 8192, 128, rate);
  }
  time(modules, 8, 12, 1024, 64, 0, Element::f32);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: run_attention FOLDER [check [INSTANCE...]|time]\n";
    return 2;
  }
  std::string only = argc > 2 ? argv[2] : "";
  if (std::string wrong = cu.load(); !wrong.empty())
    return std::cerr << wrong << "\n", 1;
  CUdevice device = 0;
  CUcontext context = nullptr;
  MTC_CU(cuInit, 0);
  MTC_CU(cuDeviceGet, &device, 0);
  char name[256] = "";
  MTC_CU(cuDeviceGetName, name, sizeof name, device);
  std::cout << R"({"device": ")" << name << "\"}" << std::endl;
  MTC_CU(cuDevicePrimaryCtxRetain, &context, device);
  MTC_CU(cuCtxSetCurrent, context);
  Modules modules(argv[1]);
  if (only != "check")
    timeAll(modules);
  if (only == "time")
    return 0;
  std::vector<std::string> wanted(argv + std::min(argc, 3), argv + argc);
  for (const auto &cases : {attentionCases(), largeAttentionCases()})
    for (const AttentionCase &c : cases)
      if ((wanted.empty() || std::ranges::count(wanted, instance(c))) &&
          !check(modules, c))
        return 1;
}

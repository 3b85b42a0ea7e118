//===- run_cases.cpp - kernel cases on a CUDA driver ----------------------===//
//
//   run_cases FOLDER RESULTS [OUTPUTS]
//
// runs every case of FOLDER/cases.bin through the driver API and writes a line
// of JSON for it to RESULTS: digests of what came out, in how many elements it
// differs from the CPU's bits, how much of the allowed error it takes, and
// microseconds for cases without data. OUTPUTS gets the bytes that came out.
// Needs no MLIR and links no CUDA.
//
//===----------------------------------------------------------------------===//
#include "kernel_case.h"

#include "test/cuda/common/driver_library.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace mtc::test;

namespace {

constexpr size_t kGuard = 256;
constexpr uint8_t kGuardByte = 0xA5;

DriverLibrary cu;

struct Error {
  std::string text;
};

void require(const std::string &wrong) {
  if (!wrong.empty())
    throw Error{wrong};
}

#define MTC_CU(f, ...) require(cu.said(cu.f##_(__VA_ARGS__), #f))

class Modules {
public:
  explicit Modules(std::string folder) : folder(std::move(folder)) {}

  CUfunction find(const std::string &file, const std::string &kernel) {
    CUmodule &module = modules[file];
    if (!module)
      load(folder + "/" + file, module);
    CUfunction function = nullptr;
    MTC_CU(cuModuleGetFunction, &function, module, kernel.c_str());
    return function;
  }

private:
  static void load(const std::string &path, CUmodule &module) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    require(cu.loadModule(text.str(), module));
  }

  std::string folder;
  std::map<std::string, CUmodule> modules;
};

/// The operands of one case in device memory, guard zones between them.
class Operands {
public:
  explicit Operands(const KernelCase &c) : c(c) {
    for (const CaseOperand &o : c.operands) {
      bytes += kGuard;
      at.push_back(bytes);
      bytes += (o.count * widthOf(o.element) + 255) / 256 * 256;
    }
    bytes += kGuard;
    workspace = bytes;
    bytes += c.workspaceBytes + kGuard;
    fields = bytes;
    bytes += 8 * c.fields;
    guard = bytes;
    bytes += 8;
    MTC_CU(cuMemAlloc, &base, bytes);
  }
  ~Operands() { cu.cuMemFree_(base); }
  Operands(const Operands &) = delete;

  void upload() {
    image.assign(bytes, kGuardByte);
    for (size_t i = 0; i < at.size(); ++i)
      std::ranges::copy(c.operands[i].before, image.begin() + at[i]);
    for (uint64_t i = 0; i < c.fields; ++i) {
      int64_t value = fieldOf(c, i);
      std::memcpy(image.data() + fields + 8 * i, &value, 8);
    }
    auto word = static_cast<int32_t>(c.guard);
    std::memcpy(image.data() + guard, &word, sizeof word);
    MTC_CU(cuMemcpyHtoD, base, image.data(), bytes);
  }

  void download() {
    image.resize(bytes);
    MTC_CU(cuMemcpyDtoH, image.data(), base, bytes);
  }

  std::vector<uint8_t> read(size_t i) const {
    auto begin = image.begin() + at[i];
    return {begin,
            begin + c.operands[i].count * widthOf(c.operands[i].element)};
  }

  /// Nothing was written outside of the operands.
  bool guardsIntact() const {
    size_t from = 0;
    for (size_t i = 0; i <= at.size(); ++i) {
      size_t to = i < at.size() ? at[i] : workspace;
      for (size_t k = from; k < to; ++k)
        if (image[k] != kGuardByte)
          return false;
      if (i < at.size())
        from = at[i] + c.operands[i].count * widthOf(c.operands[i].element);
    }
    for (size_t k = workspace + c.workspaceBytes; k < fields; ++k)
      if (image[k] != kGuardByte)
        return false;
    return true;
  }

  void launch(Modules &modules) {
    std::vector<uint64_t> values;
    for (size_t i = 0; i < at.size(); ++i) {
      int64_t shared = c.operands[i].sharesWith;
      values.push_back(base + at[shared >= 0 ? shared : i]);
    }
    for (uint64_t i = 0; i < c.args.size(); ++i)
      values.push_back(static_cast<uint64_t>(c.args[i] - fieldOf(c, i)));
    for (uint64_t i = 0; i < c.fields; ++i)
      values.push_back(i + 1 < c.fields ? base + fields + 8 * i : 0);
    if (c.guard >= 0)
      values.push_back(base + guard);
    values.push_back(base + workspace);
    std::vector<void *> pointers;
    for (uint64_t &value : values)
      pointers.push_back(&value);
    for (const CaseLaunch &one : c.launches)
      MTC_CU(cuLaunchKernel, modules.find(c.ptx, one.entry), one.blocks, 1, 1,
             one.threads, 1, 1, one.sharedBytes, nullptr, pointers.data(),
             nullptr);
  }

  CUdeviceptr addressOf(size_t i) const { return base + at[i]; }

  uint64_t bytesOfAll() const {
    uint64_t sum = 0;
    for (const CaseOperand &o : c.operands)
      sum += o.count * widthOf(o.element);
    return sum;
  }

private:
  const KernelCase &c;
  std::vector<size_t> at;
  size_t bytes = 0, workspace = 0, fields = 0, guard = 0;
  CUdeviceptr base = 0;
  std::vector<uint8_t> image;
};

bool sameValue(const CaseOperand &o, const std::vector<uint8_t> &found,
               uint64_t i) {
  uint64_t width = widthOf(o.element);
  if (!std::memcmp(found.data() + i * width, o.cpu.data() + i * width, width))
    return true;
  // A NaN's payload is the machine's own.
  return std::isnan(valueAt(o.element, found, i)) &&
         std::isnan(valueAt(o.element, o.cpu, i));
}

/// The largest error in parts of the allowed one; above 1 it is wrong.
double worstOf(const CaseOperand &o, const std::vector<uint8_t> &found) {
  double worst = 0;
  for (uint64_t i = 0; i < o.expected.size(); ++i) {
    double x = valueAt(o.element, found, i), e = o.expected[i];
    if (std::isnan(x) && std::isnan(e))
      continue;
    double error = std::fabs(x - e);
    double part = error == 0 ? 0 : error / o.tolerance[i];
    worst = std::isnan(part) ? INFINITY : std::max(worst, part);
  }
  return worst;
}

std::string operandLine(const CaseOperand &o,
                        const std::vector<uint8_t> &found) {
  uint64_t differ = 0;
  for (uint64_t i = 0; i < o.count; ++i)
    differ += !sameValue(o, found, i);
  char text[160];
  std::snprintf(
      text, sizeof text, R"({"digest": "%s", "differ": %llu, "worst": %.3g})",
      digestOf(found).c_str(), static_cast<unsigned long long>(differ),
      std::min(worstOf(o, found), 1e30));
  return text;
}

/// Small numbers in integers, which are rows of tables; the rest stays as it
/// is.
void fillIndices(Operands &operands, const KernelCase &c) {
  uint32_t x = 1;
  for (size_t i = 0; i < c.operands.size(); ++i)
    if (c.operands[i].element == "i32") {
      std::vector<uint32_t> rows(c.operands[i].count);
      for (uint32_t &row : rows)
        row = (x = x * 1664525 + 1013904223) >> 17;
      MTC_CU(cuMemcpyHtoD, operands.addressOf(i), rows.data(), 4 * rows.size());
    }
}

/// Median microseconds of nine runs.
double timeOf(Operands &operands, Modules &modules) {
  CUevent begin = nullptr, end = nullptr;
  MTC_CU(cuEventCreate, &begin, CU_EVENT_DEFAULT);
  MTC_CU(cuEventCreate, &end, CU_EVENT_DEFAULT);
  std::vector<float> times;
  for (int i = 0; i < 11; ++i) {
    MTC_CU(cuEventRecord, begin, nullptr);
    operands.launch(modules);
    MTC_CU(cuEventRecord, end, nullptr);
    MTC_CU(cuEventSynchronize, end);
    float ms = 0;
    MTC_CU(cuEventElapsedTime, &ms, begin, end);
    if (i >= 2)
      times.push_back(1000 * ms);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

class Runner {
public:
  Runner(const std::string &folder, const char *results, const char *outputs)
      : modules(folder), results(results) {
    if (outputs)
      this->outputs.open(outputs, std::ios::binary);
  }

  void run(const KernelCase &c) {
    results << R"({"ptx": ")" << c.ptx << R"(", "kernel": ")" << c.kernel
            << R"(", "launches": [)";
    for (size_t i = 0; i < c.launches.size(); ++i)
      addLaunch(c, c.launches[i], i ? ", " : "");
    results << "]";
    Operands operands(c);
    bool timed = c.operands.empty() || c.operands[0].before.empty();
    if (timed)
      fillIndices(operands, c);
    if (timed)
      results << R"(, "us": )" << timeOf(operands, modules) << R"(, "bytes": )"
              << operands.bytesOfAll();
    else
      check(c, operands);
    results << "}" << std::endl;
  }

private:
  void addLaunch(const KernelCase &c, const CaseLaunch &launch,
                 const char *before) {
    CUfunction function = modules.find(c.ptx, launch.entry);
    int registers = 0, local = 0, shared = 0;
    MTC_CU(cuFuncGetAttribute, &registers, CU_FUNC_ATTRIBUTE_NUM_REGS,
           function);
    MTC_CU(cuFuncGetAttribute, &local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
           function);
    MTC_CU(cuFuncGetAttribute, &shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
           function);
    results << before << R"({"blocks": )" << launch.blocks << R"(, "threads": )"
            << launch.threads << R"(, "registers": )" << registers
            << R"(, "local": )" << local << R"(, "shared": )" << shared << "}";
  }

  void check(const KernelCase &c, Operands &operands) {
    operands.upload();
    operands.launch(modules);
    MTC_CU(cuCtxSynchronize);
    operands.download();
    results << R"(, "guards": )" << (operands.guardsIntact() ? "true" : "false")
            << R"(, "operands": [)";
    for (size_t i = 0; i < c.operands.size(); ++i) {
      std::vector<uint8_t> found = operands.read(i);
      results << (i ? ", " : "") << operandLine(c.operands[i], found);
      if (outputs.is_open())
        outputs.write(reinterpret_cast<const char *>(found.data()),
                      static_cast<std::streamsize>(found.size()));
    }
    results << "]";
  }

  Modules modules;
  std::ofstream results, outputs;
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::cerr << "usage: run_cases FOLDER RESULTS [OUTPUTS]\n";
    return 2;
  }
  std::vector<KernelCase> cases;
  std::string wrong = loadCases(std::string(argv[1]) + "/cases.bin", cases);
  if (wrong.empty())
    wrong = cu.load();
  if (!wrong.empty())
    return std::cerr << wrong << "\n", 1;
  try {
    CUdevice device = 0;
    CUcontext context = nullptr;
    MTC_CU(cuInit, 0);
    MTC_CU(cuDeviceGet, &device, 0);
    MTC_CU(cuDevicePrimaryCtxRetain, &context, device);
    MTC_CU(cuCtxSetCurrent, context);
    Runner runner(argv[1], argv[2], argc > 3 ? argv[3] : nullptr);
    for (const KernelCase &c : cases)
      runner.run(c);
  } catch (const Error &error) {
    std::cerr << error.text << "\n";
    return 1;
  }
  std::cout << cases.size() << " cases\n";
}

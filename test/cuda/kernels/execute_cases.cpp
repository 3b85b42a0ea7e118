//===- execute_cases.cpp - kernel cases on the PTX executor ---------------===//
//
//   execute_cases FOLDER SEED... [--gpu RESULTS]
//
// runs every case of FOLDER/cases.bin as PTX, once for each SEED, which chooses
// an order of blocks and warps and what unwritten registers hold. What comes
// out is compared with the evaluator's bounds, and must have the same bits in
// each order. A fault, a wrong element or a module that is refused is a line;
// then the exit code is 1. RESULTS is what run_cases wrote on a GPU: how many
// cases have its bytes is counted.
//
//===----------------------------------------------------------------------===//
#include "case_run.h"

#include "test/cuda/common/module_files.h"

#include <fstream>
#include <iostream>

using namespace mtc;
using namespace mtc::test;

namespace {

struct Totals {
  int wrong = 0, cpuBits = 0, gpuBytes = 0;
  uint64_t instructions = 0;
};

/// What comes out of one run, or why it is wrong.
std::string runOnce(const KernelCase &c, const ptx::Module &module,
                    uint64_t seed, Totals &totals,
                    std::vector<std::vector<uint8_t>> &found) {
  CaseRun run(c, module, seed);
  auto fault = run.run();
  totals.instructions += run.counts.laneInstructions;
  if (fault)
    return ptx::describe(*fault);
  found.clear();
  for (size_t i = 0; i < c.operands.size(); ++i) {
    found.push_back(run.read(i));
    std::string wrong = wrongElement(c.operands[i], found.back());
    if (!wrong.empty())
      return "operand " + std::to_string(i) + " " + wrong;
  }
  return "";
}

/// Digests of a line of run_cases' results, one per operand.
std::vector<std::string> digestsOf(const std::string &line) {
  const std::string key = "\"digest\": \"";
  std::vector<std::string> digests;
  for (size_t at = line.find(key); at != std::string::npos;
       at = line.find(key, at + 1))
    digests.push_back(line.substr(at + key.size(), 16));
  return digests;
}

void runCase(const KernelCase &c, const ptx::Module &module,
             const std::vector<uint64_t> &seeds, const std::string &gpu,
             Totals &totals) {
  std::vector<std::vector<uint8_t>> first, found;
  for (uint64_t seed : seeds) {
    std::string wrong = runOnce(c, module, seed, totals, found);
    if (wrong.empty() && !first.empty() && found != first)
      wrong = "other bits in another order of blocks and warps";
    if (!wrong.empty()) {
      std::cout << c.ptx << " " << c.kernel << ": " << wrong << "\n";
      ++totals.wrong;
      return;
    }
    first = found;
  }
  bool bits = true;
  for (size_t i = 0; i < c.operands.size(); ++i)
    bits &= hasCpuBits(c.operands[i], found[i]);
  totals.cpuBits += bits;
  std::vector<std::string> digests;
  for (const std::vector<uint8_t> &bytes : found)
    digests.push_back(digestOf(bytes));
  totals.gpuBytes += digests == digestsOf(gpu);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::cerr << "usage: execute_cases FOLDER SEED...\n";
    return 2;
  }
  std::vector<KernelCase> cases;
  std::string folder = argv[1];
  std::string unread = loadCases(folder + "/cases.bin", cases);
  if (!unread.empty())
    return std::cerr << unread << "\n", 2;
  std::vector<uint64_t> seeds;
  std::ifstream gpu;
  for (int i = 2; i < argc; ++i)
    if (std::string(argv[i]) == "--gpu" && i + 1 < argc)
      gpu.open(argv[++i]);
    else
      seeds.push_back(std::stoull(argv[i]));
  ModuleFiles modules(folder, kernelRules());
  Totals totals;
  for (const KernelCase &c : cases) {
    const ptx::Module *module = modules.find(c.ptx);
    if (!module)
      return 1;
    std::string line;
    std::getline(gpu, line);
    runCase(c, *module, seeds, line, totals);
  }
  std::cout << cases.size() << " cases, " << totals.wrong << " wrong, "
            << totals.cpuBits << " with the CPU's bits, " << totals.gpuBytes
            << " with the GPU's bytes, " << totals.instructions
            << " lane instructions\n";
  return totals.wrong || cases.empty() ? 1 : 0;
}

//===- execute_cases.cpp - kernel cases on the PTX executor ---------------===//
//
//   execute_cases FOLDER SEED
//
// runs every case of FOLDER/cases.bin as PTX, blocks and warps in an order that
// SEED chooses, and compares what comes out with the evaluator's bounds. A
// fault, an error beyond its bound or a module that is refused is a line; then
// the exit code is 1.
//
//===----------------------------------------------------------------------===//
#include "kernel_case.h"

#include "test/cuda/ptx/launch.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace mtc;
using namespace mtc::test;

namespace {

class Modules {
public:
  explicit Modules(std::string folder) : folder(std::move(folder)) {}

  /// Null after a message.
  const ptx::Module *find(const std::string &file) {
    auto [entry, isNew] = modules.try_emplace(file);
    if (isNew)
      entry->second = load(folder + "/" + file);
    return entry->second.get();
  }

private:
  static std::unique_ptr<const ptx::Module> load(const std::string &path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    ptx::Rules rules; // docs/numerics.md
    rules.refuseFlushToZero = rules.refuseApproximate = true;
    rules.refuseContractable = true;
    std::vector<ptx::Problem> problems;
    auto module = ptx::Module::fromText(text.str(), rules, problems);
    if (!module)
      std::cout << path << ": " << ptx::describe(problems) << "\n";
    return module;
  }

  std::string folder;
  std::map<std::string, std::unique_ptr<const ptx::Module>> modules;
};

class CaseRun {
public:
  CaseRun(const KernelCase &c, const ptx::Module &module, uint64_t seed)
      : c(c), module(module), globals(module, memory) {
    options.seed = seed;
    // LLVM packs halves of which one is never used.
    options.readUnwrittenRegisters = true;
    for (const CaseOperand &operand : c.operands) {
      addresses.push_back(memory.allocate(operand.before.size(), "operand"));
      memory.initialise(addresses.back(),
                        std::as_bytes(std::span(operand.before)));
    }
    workspace = memory.allocate(c.workspaceBytes, "workspace");
  }

  std::optional<ptx::Fault> run() {
    uint64_t operation = 0;
    for (const CaseLaunch &launch : c.launches) {
      memory.begin({++operation, 0});
      const ptx::KernelFacts *kernel = module.find(launch.entry);
      if (!kernel)
        return ptx::Fault{ptx::FaultKind::trap,
                          "there is no entry " + launch.entry};
      if (auto fault = runOne(*kernel, launch))
        return fault;
    }
    return std::nullopt;
  }

  std::vector<uint8_t> read(size_t i) {
    std::vector<uint8_t> bytes(c.operands[i].before.size());
    std::memcpy(bytes.data(), memory.find(addresses[i], 1)->host, bytes.size());
    return bytes;
  }

  ptx::LaunchCounts counts;

private:
  std::optional<ptx::Fault> runOne(const ptx::KernelFacts &kernel,
                                   const CaseLaunch &launch) {
    ptx::Arguments arguments;
    for (size_t i = 0; i < addresses.size(); ++i) {
      int64_t shared = c.operands[i].sharesWith;
      arguments.add(addresses[shared >= 0 ? shared : i]);
    }
    for (int64_t arg : c.args)
      arguments.add(arg);
    if (c.workspaceBytes)
      arguments.add(workspace);
    ptx::Launch what{module,
                     kernel,
                     {static_cast<uint32_t>(launch.blocks), 1, 1},
                     {static_cast<uint32_t>(launch.threads), 1, 1},
                     static_cast<uint32_t>(launch.sharedBytes),
                     arguments.bytes(),
                     &globals};
    return ptx::launch(what, memory, options, &counts);
  }

  const KernelCase &c;
  const ptx::Module &module;
  ptx::Memory memory;
  ptx::Globals globals;
  ptx::LaunchOptions options;
  std::vector<ptx::Address> addresses;
  ptx::Address workspace = 0;
};

/// The first element that is further from the evaluator than it may be.
std::string wrongElement(const CaseOperand &o,
                         const std::vector<uint8_t> &found) {
  for (uint64_t i = 0; i < o.expected.size(); ++i) {
    double x = valueAt(o.element, found, i), e = o.expected[i];
    if (std::isnan(x) && std::isnan(e))
      continue;
    if (!(std::fabs(x - e) <= o.tolerance[i])) {
      std::ostringstream text;
      text << "element " << i << ": expected " << e << " within "
           << o.tolerance[i] << ", found " << x;
      return text.str();
    }
  }
  return "";
}

bool hasBits(const CaseOperand &o, const std::vector<uint8_t> &found) {
  for (uint64_t i = 0; i < o.count; ++i) {
    double x = valueAt(o.element, found, i), y = valueAt(o.element, o.cpu, i);
    if (x != y && !(std::isnan(x) && std::isnan(y)))
      return false;
  }
  return true;
}

struct Totals {
  int wrong = 0, cpuBits = 0;
  uint64_t instructions = 0;
};

void runCase(const KernelCase &c, const ptx::Module &module, uint64_t seed,
             Totals &totals) {
  CaseRun run(c, module, seed);
  auto fail = [&](const std::string &why) {
    std::cout << c.ptx << " " << c.kernel << ": " << why << "\n";
    ++totals.wrong;
  };
  auto fault = run.run();
  totals.instructions += run.counts.laneInstructions;
  if (fault)
    return fail(ptx::describe(*fault));
  bool bits = true;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    std::vector<uint8_t> found = run.read(i);
    bits &= hasBits(c.operands[i], found);
    if (std::string wrong = wrongElement(c.operands[i], found); !wrong.empty())
      return fail("operand " + std::to_string(i) + " " + wrong);
  }
  totals.cpuBits += bits;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: execute_cases FOLDER SEED\n";
    return 2;
  }
  std::vector<KernelCase> cases;
  std::string folder = argv[1];
  std::string unread = loadCases(folder + "/cases.bin", cases);
  if (!unread.empty())
    return std::cerr << unread << "\n", 2;
  Modules modules(folder);
  Totals totals;
  for (const KernelCase &c : cases) {
    const ptx::Module *module = modules.find(c.ptx);
    if (!module)
      return 1;
    runCase(c, *module, std::stoull(argv[2]), totals);
  }
  std::cout << cases.size() << " cases, " << totals.wrong << " wrong, "
            << totals.cpuBits << " with the CPU's bits, " << totals.instructions
            << " lane instructions\n";
  return totals.wrong || cases.empty() ? 1 : 0;
}

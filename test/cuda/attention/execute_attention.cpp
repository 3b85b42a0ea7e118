//===- execute_attention.cpp - attention kernels on the PTX executor ------===//
//
//   execute_attention FOLDER SEED [CASES [forward]]
//
// runs the cases of attention_case.h (those whose name_ELEMENT_dDIM holds
// CASES) with FOLDER/attention_ELEMENT_dDIM.ptx, blocks and warps in an order
// that SEED chooses. A fault, or an error beyond its bound, is a line; then the
// exit code is 1.
//
//   execute_attention names
//
// writes the instances that hasAttention promises to programs, one a line.
//
//===----------------------------------------------------------------------===//
#include "attention_run.h"

#include "test/cuda/common/module_files.h"
#include "test/cuda/ptx/launch.h"

#include <filesystem>
#include <iostream>

using namespace mtc;
using namespace mtc::test;

namespace {

class Executor : public Machine {
public:
  Executor(const ptx::Module &module, uint64_t seed)
      : module(module), globals(module, memory) {
    options.seed = seed;
    options.instructionLimit = 2'000'000'000;
  }

  uint64_t allocate(size_t bytes, const char *name) override {
    return memory.allocate(bytes, name);
  }
  std::string upload(uint64_t to, const void *from, size_t bytes) override {
    memory.initialise(to, {static_cast<const std::byte *>(from), bytes});
    return "";
  }
  std::string download(void *to, uint64_t from, size_t bytes) override {
    ptx::Allocation *a = memory.find(from, bytes);
    if (!a)
      return "no such memory";
    std::memcpy(to, a->host + (from - a->base), bytes);
    return "";
  }
  void clear() override {}
  std::string launch(const std::string &entry, const Grid &grid,
                     const cuda::AttentionParams &params) override {
    const ptx::KernelFacts *kernel = module.find(entry);
    if (!kernel)
      return "there is no entry " + entry;
    memory.begin({++operation, 0});
    ptx::Arguments arguments;
    arguments.add(params);
    ptx::Launch what{module,
                     *kernel,
                     {uint32_t(grid.x), uint32_t(grid.y), uint32_t(grid.z)},
                     {uint32_t(grid.threads), 1, 1},
                     uint32_t(grid.shared),
                     arguments.bytes(),
                     &globals};
    auto fault = ptx::launch(what, memory, options, &counts);
    return fault ? ptx::describe(*fault) : "";
  }

  ptx::LaunchCounts counts;

private:
  const ptx::Module &module;
  ptx::Memory memory;
  ptx::Globals globals;
  ptx::LaunchOptions options;
  uint64_t operation = 0;
};

void writeNames() {
  for (Element element : {Element::bf16, Element::f16, Element::f32})
    for (int size : {32, 64, 96, 128, 256})
      if (cuda::hasAttention(element == Element::f16, size))
        std::cout << nameOf(element) << "_d" << size << "\n";
  for (Element element : {Element::bf16, Element::f16, Element::f32})
    for (int size : {32, 64, 96, 128, 256})
      if (cuda::hasGroupAttention("sm_90a", element == Element::f32, size))
        std::cout << nameOf(element) << "_d" << size << "_sm_90a\n";
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::string(argv[1]) == "names")
    return writeNames(), 0;
  if (argc < 3) {
    std::cerr << "usage: execute_attention FOLDER SEED [CASES [forward]]\n"
                 "       execute_attention names\n";
    return 2;
  }
  ModuleFiles modules(argv[1], {});
  std::string which = argc > 3 ? argv[3] : "";
  bool gradients = argc <= 4;
  bool ok = true;
  std::vector<AttentionCase> cases = attentionCases();
  if (which == "large")
    cases = largeAttentionCases();
  for (const AttentionCase &c : cases) {
    std::string name = c.fullName();
    if (name.find(which) == std::string::npos)
      continue;
    std::string file = "attention_" + instance(c) + ".ptx";
    const ptx::Module *module = modules.find(file);
    if (!module) {
      std::cout << name << ": no module\n";
      // A text that is refused is not one that is not there.
      ok = ok && !std::filesystem::exists(std::string(argv[1]) + "/" + file);
      continue;
    }
    Executor executor(*module, std::stoull(argv[2]));
    AttentionData data = makeData(c);
    CaseOnMachine run(executor, c, data);
    std::string wrong = run.forward();
    if (wrong.empty() && gradients)
      wrong = run.backward();
    CaseOnMachine::Found found;
    Ratios r{};
    if (wrong.empty())
      wrong = run.read(found);
    if (wrong.empty())
      wrong = compare(c, reference(c, data), found, gradients, r);
    std::cout << name << ": out " << r.out << " lse " << r.lse << " dq " << r.dq
              << " dk " << r.dk << " dv " << r.dv << " of their bounds, "
              << executor.counts.laneInstructions / 1000000
              << "M lane instructions " << wrong << std::endl;
    ok = ok && wrong.empty();
  }
  return ok ? 0 : 1;
}

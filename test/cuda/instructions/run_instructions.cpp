//===- run_instructions.cpp - kernels of one instruction, executed --------===//
//
//   run_instructions FOLDER [NAME...]
//
// FOLDER is what test/golden/cuda/instr/kernels.py writes. A line per kernel:
// its name and "ran", then per output the FNV-1a of all bytes, and those in
// hexadecimal if names are given; or its name and why it was refused, or its
// fault.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/launch.h"
#include "test/golden/cuda/instr/inputs.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace mtc;

namespace {

/// What bytes that a kernel does not write have.
constexpr std::byte kUnwritten{0xCD};
constexpr int kArrays = 4;

struct Output {
  int registers = 1, bits = 32; ///< of an element; predicates have one bit
};

struct Kernel {
  std::string name, module;
  ptx::Extent grid, block;
  instr::Spec spec;
  std::vector<std::string> kinds;
  std::vector<int> bits; ///< of an input's register
  std::vector<Output> outputs;
};

bool readKernel(const std::string &line, Kernel &k) {
  std::istringstream s(line);
  int count = 0;
  s >> k.name >> k.module >> k.spec.n >> k.spec.seed;
  s >> k.grid.x >> k.grid.y >> k.grid.z >> k.block.x >> k.block.y >> k.block.z;
  s >> k.spec.nk;
  for (int i = 0; i < k.spec.nk && s; ++i) {
    s >> k.kinds.emplace_back() >> k.spec.per[i] >> k.bits.emplace_back();
  }
  s >> count;
  for (int i = 0; i < count && s; ++i) {
    Output &o = k.outputs.emplace_back();
    s >> o.registers >> o.bits;
  }
  for (int i = 0; i < k.spec.nk && s; ++i)
    k.spec.kind[i] = k.kinds[i].c_str();
  return static_cast<bool>(s);
}

/// Each kernel's text with its module's head: one that is refused takes no
/// other with it.
std::map<std::string, std::string> textsOf(const std::string &path) {
  std::ifstream file(path);
  std::string line, head, name;
  std::map<std::string, std::string> texts;
  while (std::getline(file, line)) {
    if (line.rfind("//@ ", 0) == 0)
      texts[name = line.substr(4)] = head;
    else
      (name.empty() ? head : texts[name]) += line + "\n";
  }
  return texts;
}

std::vector<std::byte> inputOf(const Kernel &k, int i) {
  size_t count = k.spec.n * k.spec.per[i], width = k.bits[i] / 8;
  std::vector<std::byte> bytes(count * width);
  for (size_t j = 0; j < count; ++j) {
    // Wider elements are given as their low 64 bits.
    instr::u64 x = instr::value(k.spec, i, j);
    std::memcpy(&bytes[j * width], &x, std::min<size_t>(width, 8));
  }
  return bytes;
}

/// Bytes of an element in memory: a predicate has one of its own.
size_t widthOf(const Output &o) { return o.bits == 1 ? 1 : o.bits / 8; }

class Run {
public:
  explicit Run(const Kernel &k) : k(k) {
    for (int i = 0; i < kArrays; ++i)
      inputs[i] = i < k.spec.nk ? newArray(inputOf(k, i)) : newArray({});
    for (size_t i = 0; i < kArrays; ++i) {
      size_t bytes = i < k.outputs.size() ? k.spec.n * k.outputs[i].registers *
                                                widthOf(k.outputs[i])
                                          : 0;
      outputs[i] = newArray(std::vector<std::byte>(bytes, kUnwritten));
    }
  }

  std::optional<ptx::Fault> launch(const ptx::Module &module) {
    ptx::Globals globals(module, memory);
    ptx::Arguments arguments;
    for (ptx::Address address : inputs)
      arguments.add(address);
    for (ptx::Address address : outputs)
      arguments.add(address);
    arguments.add(static_cast<uint32_t>(k.spec.n));
    memory.begin({1, 0});
    ptx::LaunchOptions options;
    options.endedThreadsArrive = true; // as the device had it
    options.instructionLimit = 20'000'000;
    return ptx::launch({module, *module.find(k.name), k.grid, k.block, 0,
                        arguments.bytes(), &globals},
                       memory, options);
  }

  /// Output `i` as it is recorded: predicates packed, the lowest bit first.
  std::vector<uint8_t> bytesOf(size_t i) {
    const Output &o = k.outputs[i];
    size_t count = k.spec.n * o.registers;
    const auto *from =
        reinterpret_cast<const uint8_t *>(memory.find(outputs[i], 1)->host);
    if (o.bits != 1)
      return {from, from + count * widthOf(o)};
    std::vector<uint8_t> packed((count + 7) / 8);
    for (size_t j = 0; j < count; ++j)
      packed[j / 8] |= static_cast<uint8_t>((from[j] & 1) << j % 8);
    return packed;
  }

private:
  ptx::Address newArray(const std::vector<std::byte> &bytes) {
    std::vector<std::byte> padded = bytes;
    padded.resize(bytes.size() + 256, kUnwritten);
    ptx::Address address = memory.allocate(padded.size(), "array");
    memory.initialise(address, padded);
    return address;
  }

  const Kernel &k;
  ptx::Memory memory{{.initialised = true, .races = false}};
  ptx::Address inputs[kArrays] = {}, outputs[kArrays] = {};
};

uint64_t digest(const std::vector<uint8_t> &bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint8_t b : bytes)
    hash = (hash ^ b) * 0x100000001b3;
  return hash;
}

std::string oneLine(std::string text) {
  for (char &c : text)
    if (c == '\n')
      c = ' ';
  return text;
}

void report(const Kernel &k, Run &run, bool whole) {
  std::cout << k.name << " ran";
  for (size_t i = 0; i < k.outputs.size(); ++i) {
    std::vector<uint8_t> bytes = run.bytesOf(i);
    char text[20];
    std::snprintf(text, sizeof text, " %016llx",
                  static_cast<unsigned long long>(digest(bytes)));
    std::cout << text;
    if (!whole)
      continue;
    std::cout << ":";
    for (uint8_t b : bytes) {
      std::snprintf(text, sizeof text, "%02x", b);
      std::cout << text;
    }
  }
  std::cout << "\n";
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: run_instructions FOLDER [NAME...]\n";
    return 2;
  }
  std::string folder = argv[1], line;
  std::vector<std::string> wanted(argv + 2, argv + argc);
  std::ifstream list(folder + "/instr.list");
  std::map<std::string, std::map<std::string, std::string>> modules;
  while (std::getline(list, line)) {
    Kernel k;
    if (!readKernel(line, k))
      return std::cerr << "bad line: " << line << "\n", 2;
    if (!wanted.empty() && !std::ranges::count(wanted, k.name))
      continue;
    auto [texts, isNew] = modules.try_emplace(k.module);
    if (isNew)
      texts->second = textsOf(folder + "/ptx/" + k.module + ".ptx");
    std::vector<ptx::Problem> problems;
    auto module = ptx::Module::fromText(texts->second[k.name], {}, problems);
    if (!module) {
      std::cout << k.name << " refused " << oneLine(ptx::describe(problems))
                << "\n";
      continue;
    }
    Run run(k);
    if (auto fault = run.launch(*module))
      std::cout << k.name << " fault " << oneLine(ptx::describe(*fault))
                << "\n";
    else
      report(k, run, !wanted.empty());
  }
}

//===- executor_device.h - a module on the executor of PTX ------*- C++ -*-===//
//
// A device of a test: memory, and the kernels of one module. All operations are
// in one stream. What goes wrong ends the test with the executor's sentence.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_COMMON_EXECUTOR_DEVICE_H
#define MTC_TEST_CUDA_COMMON_EXECUTOR_DEVICE_H

#include "test/cuda/ptx/launch.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

namespace mtc::test {

class ExecutorDevice {
public:
  ExecutorDevice(const ptx::Module &module, uint64_t seed)
      : module(module), globals(module, memory) {
    options.seed = seed;
    options.instructionLimit = 2'000'000'000;
  }

  /// Memory of exactly these values, `skipped` bytes behind an aligned address.
  template <class T>
  ptx::Address place(std::span<const T> values, const char *name,
                     size_t skipped = 0) {
    ptx::Address base = space(values.size_bytes(), name, skipped);
    // Bytes at the start are what initialise() can give values.
    std::vector<std::byte> image(skipped + values.size_bytes());
    std::memcpy(image.data() + skipped, values.data(), values.size_bytes());
    memory.initialise(base - skipped, image);
    if (skipped != 0)
      memory.forget(base - skipped, skipped);
    return base;
  }

  /// The same without values.
  ptx::Address space(size_t bytes, const char *name, size_t skipped = 0) {
    return memory.allocate(skipped + bytes, name) + skipped;
  }

  /// The range has no values any more.
  void forget(ptx::Address from, size_t bytes) { memory.forget(from, bytes); }

  template <class T> std::vector<T> read(ptx::Address from, size_t count) {
    std::vector<T> values(count);
    if (count != 0)
      std::memcpy(values.data(), at(from, count * sizeof(T)),
                  count * sizeof(T));
    return values;
  }

  /// Whether every byte has been written, or none of them.
  bool isWritten(ptx::Address from, size_t bytes, bool written = true) {
    ptx::Allocation *a = memory.find(from, bytes);
    for (size_t i = 0; a && i < bytes; ++i)
      if ((a->states[from - a->base + i] == ptx::ByteState::written) != written)
        return false;
    return a != nullptr;
  }

  template <class... Values>
  void run(const std::string &entry, ptx::Extent grid, uint32_t threads,
           const Values &...values) {
    const ptx::KernelFacts *kernel = module.find(entry);
    ASSERT_TRUE(kernel) << "there is no entry " << entry;
    ptx::Arguments arguments;
    (arguments.add(values), ...);
    memory.begin({++operations, 0});
    auto fault = ptx::launch({module,
                              *kernel,
                              grid,
                              {threads, 1, 1},
                              0,
                              arguments.bytes(),
                              &globals},
                             memory, options, &counts);
    ASSERT_FALSE(fault) << ptx::describe(*fault);
  }

  ptx::LaunchCounts counts;

private:
  std::byte *at(ptx::Address from, size_t bytes) {
    ptx::Allocation *a = memory.find(from, bytes);
    return a ? a->host + (from - a->base) : nullptr;
  }

  const ptx::Module &module;
  ptx::Memory memory;
  ptx::Globals globals;
  ptx::LaunchOptions options;
  uint64_t operations = 0;
};

} // namespace mtc::test
#endif // MTC_TEST_CUDA_COMMON_EXECUTOR_DEVICE_H

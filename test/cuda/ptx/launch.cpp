//===- launch.cpp - executes a kernel -------------------------------------===//
#include "test/cuda/ptx/launch.h"

#include "test/cuda/ptx/machine/barriers.h"
#include "test/cuda/ptx/machine/observer.h"
#include "test/cuda/ptx/machine/run.h"
#include "test/cuda/ptx/machine/setup.h"
#include "test/cuda/ptx/machine/warpgroup.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

constexpr uint64_t kMostThreads = 1024;
constexpr uint64_t kMostShared = 227 * 1024; ///< of a block on sm_90
constexpr uint64_t kLongestSpan = 2000;

std::string words(const Extent &of) {
  return fmt::format("({}, {}, {})", of.x, of.y, of.z);
}

/// Empty: a device takes it.
std::string shapeProblem(const Launch &what) {
  const Extent &grid = what.grid, &block = what.block;
  const KernelFacts &kernel = what.kernel;
  if (!grid.x || !grid.y || !grid.z || grid.x > 0x7fffffff || grid.y > 65535 ||
      grid.z > 65535)
    return fmt::format(
        "expected a grid from 1 to (2^31-1, 65535, 65535), found "
        "{}",
        words(grid));
  uint64_t threads = uint64_t(block.x) * block.y;
  if (!block.x || !block.y || !block.z || block.x > 1024 || block.y > 1024 ||
      block.z > 64 || threads * block.z > kMostThreads)
    return fmt::format("expected a block of 1 to {} threads, at most (1024, "
                       "1024, 64), found {}",
                       kMostThreads, words(block));
  if (kernel.requiredBlock.x && kernel.requiredBlock != block)
    return fmt::format("expected the block {} of .reqntid, found {}",
                       words(kernel.requiredBlock), words(block));
  uint64_t most = uint64_t(kernel.largestBlock.x) * kernel.largestBlock.y *
                  kernel.largestBlock.z;
  if (most && threads * block.z > most)
    return fmt::format("expected at most {} threads, as .maxntid has, found {}",
                       most, words(block));
  if (uint64_t(kernel.sharedBytes) + what.dynamicShared > kMostShared)
    return fmt::format("expected at most {} bytes of shared memory, found {} "
                       "and {} dynamic ones",
                       kMostShared, kernel.sharedBytes, what.dynamicShared);
  return {};
}

const Code &codeOf(const Launch &what) {
  const Program &program = what.module.program();
  return program.codes[size_t(&what.kernel - program.kernels.data())];
}

bool needsGlobals(const Launch &what) {
  for (const Constant &each : codeOf(what).constants)
    if (each.variable >= 0)
      return true;
  return false;
}

std::optional<Fault> check(const Launch &what) {
  const KernelFacts &kernel = what.kernel;
  auto fault = [&](FaultKind kind, std::string sentence) {
    Fault made{kind, std::move(sentence), kernel.name};
    made.line = kernel.line;
    return made;
  };
  if (std::string problem = shapeProblem(what); !problem.empty())
    return fault(FaultKind::launchShape, problem);
  if (needsGlobals(what) && !what.globals)
    return fault(FaultKind::launchParameters,
                 "expected the places of the module's variables, found none");
  if (what.parameters.size() != kernel.parameterBytes)
    return fault(FaultKind::launchParameters,
                 fmt::format("expected {} bytes of parameters, found {}",
                             kernel.parameterBytes, what.parameters.size()));
  return std::nullopt;
}

/// Runs the warps of a block in random order, for random spans: only barriers
/// order them.
void runBlock(Block &block) {
  std::vector<Warp *> runnable;
  uint64_t limit = block.options.instructionLimit;
  while (!block.fault) {
    runnable.clear();
    bool waits = false;
    for (Warp &each : block.warps) {
      if (each.live && !each.waits)
        runnable.push_back(&each);
      waits |= each.waits;
    }
    if (runnable.empty()) {
      if (waits)
        tellDeadlock(block);
      else
        allCame(block);
      return;
    }
    Warp &warp = *runnable[block.random.below(runnable.size())];
    uint64_t span = 1 + block.random.below(kLongestSpan);
    uint64_t left = limit - std::min(limit, block.counts.warpInstructions);
    if (left == 0) {
      warp.fail(FaultKind::endless, block.code.instructions[warp.pc],
                fmt::format("{} instructions of warps are all that the launch "
                            "may take",
                            limit));
      return;
    }
    runWarp(warp, std::min(span, left));
    if (!warp.live && block.options.endedThreadsArrive)
      completeWithoutEnded(block);
  }
}

} // namespace

std::optional<Fault> launch(const Launch &what, Memory &memory,
                            const LaunchOptions &options,
                            LaunchCounts *counts) {
  if (auto fault = check(what))
    return fault;
  Block block(what, codeOf(what), memory, options);
  setUp(block);
  uint64_t blocks = uint64_t(what.grid.x) * what.grid.y * what.grid.z;
  BlockOrder order(blocks, block.random);
  if (options.observer)
    options.observer->begin();
  for (uint64_t k = 0; k < blocks && !block.fault; ++k) {
    startBlock(block, order.at(k));
    runBlock(block);
  }
  if (counts) {
    counts->warpInstructions += block.counts.warpInstructions;
    counts->laneInstructions += block.counts.laneInstructions;
    counts->barriers += block.counts.barriers;
  }
  return std::move(block.fault);
}

} // namespace mtc::ptx

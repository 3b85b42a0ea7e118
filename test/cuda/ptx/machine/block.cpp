//===- block.cpp - what warps and blocks say and are made of --------------===//
#include "test/cuda/ptx/machine/block.h"

namespace mtc::ptx {
namespace {

/// Of a thread, while no launch has it.
thread_local BlockMemory spare;

} // namespace

Block::Block(const Launch &launch, const Code &code, Memory &memory,
             const LaunchOptions &options)
    : launch(launch), program(launch.module.program()), code(code),
      memory(memory), options(options), random(options.seed),
      threads(launch.block.x * launch.block.y * launch.block.z),
      kept(std::move(spare)) {}

Block::~Block() { spare = std::move(kept); }

Extent Block::threadAt(uint32_t number) const {
  const Extent &of = launch.block;
  return {number % of.x, number / of.x % of.y, number / of.x / of.y};
}

bool Warp::fail(FaultKind kind, const Instruction &by, std::string sentence,
                int lane) {
  if (block->fault)
    return false;
  Fault fault{kind, std::move(sentence), block->launch.kernel.name};
  fault.block = block->place;
  fault.lane = lane;
  fault.thread =
      block->threadAt(uint32_t(index * kLanes + (lane < 0 ? 0 : lane)));
  fault.line = by.line;
  if (by.line >= 1 && size_t(by.line) <= block->program.lines.size())
    fault.text = block->program.lines[size_t(by.line) - 1];
  block->fault = std::move(fault);
  return false;
}

void Warp::passTime() {
  passTimeApart();
  clock.together = clock.times[index];
}

void Warp::passTimeApart() {
  uint32_t time = ++clock.times[index];
  globalTag = Tag::make(block->memory.slot(), block->number, time, index, 0);
  sharedTag = Tag::make(block->kept.sequence, block->number, time, index, 0);
}

} // namespace mtc::ptx

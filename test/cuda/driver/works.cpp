//===- works.cpp - the kinds of work --------------------------------------===//
#include "test/cuda/driver/works.h"

#include "test/cuda/driver/calls.h"
#include "test/cuda/driver/driver.h"
#include "test/cuda/ptx/repeat.h"

#include <algorithm>
#include <cstring>

namespace mtc::standin {
namespace {

/// FNV-1a over words, bytes at the end.
uint64_t mix(uint64_t hash, const void *data, size_t bytes) {
  const auto *at = static_cast<const unsigned char *>(data);
  for (; bytes >= 8; at += 8, bytes -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  for (; bytes; ++at, --bytes)
    hash = (hash ^ *at) * 0x100000001b3;
  return hash;
}

ptx::Fault hostFault(std::string sentence) {
  return {ptx::FaultKind::operationRace, std::move(sentence)};
}

std::string count(size_t bytes) { return std::to_string(bytes) + " bytes"; }

/// What the host registered may be shared with somebody: it is written.
void fillBytes(uint64_t address, std::byte *at, size_t bytes, std::byte value) {
  Range *range = Driver::get().space.find(address);
  if (range && range->place == Place::device && !range->variable)
    ptx::repeat(at, bytes, value);
  else
    std::fill_n(at, bytes, value);
}

} // namespace

uint64_t Work::reach() const {
  uint64_t devices = uint64_t(1) << context->device;
  for (CUcontext peer : context->peers)
    devices |= uint64_t(1) << peer->device;
  return devices;
}

void **KernelWork::parameterPointers() const {
  pointers.clear();
  for (const ptx::Parameter &each : kernel->parameters)
    pointers.push_back(
        const_cast<std::byte *>(parameters.data() + each.offset));
  return pointers.data();
}

Progress KernelWork::run(std::optional<ptx::Fault> &fault) {
  Driver &driver = Driver::get();
  driver.begin();
  ptx::LaunchOptions options = driver.launchOptions;
  options.seed = driver.schedule.random();
  if (driver.trace && kernel->name == driver.tracedKernel)
    options.observer = driver.trace.get();
  fault = ptx::launch({*module->code, *kernel, grid, block, dynamicShared,
                       parameters, module->globals.get()},
                      driver.memory, options);
  return Progress::done;
}

std::string KernelWork::facts() const {
  auto extent = [](const ptx::Extent &e) {
    return std::to_string(e.x) + "," + std::to_string(e.y) + "," +
           std::to_string(e.z);
  };
  std::string text = name() + " grid " + extent(grid) + " block " +
                     extent(block) + " shared " +
                     std::to_string(dynamicShared) + " parameters";
  for (const ptx::Parameter &each : kernel->parameters) {
    text += " ";
    for (uint32_t k = each.bytes; k-- > 0;) {
      constexpr char kDigits[] = "0123456789abcdef";
      auto byte = unsigned(parameters[each.offset + k]);
      text += {kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

std::string CopyWork::facts() const {
  std::string text = name();
  for (auto [word, address] : {std::pair(" to ", to), {" from ", from}}) {
    const Range *range = Driver::get().space.find(address);
    if (range && range->place == Place::device)
      text += word + hex(address);
  }
  return text;
}

std::string FillWork::facts() const {
  return name() + " of " + std::to_string(value) + " at " + hex(to) +
         " pitch " + std::to_string(pitch);
}

std::string CopyWork::name() const {
  auto word = [](Side side) {
    return side == Side::host     ? "the host"
           : side == Side::device ? "the device"
                                  : "memory";
  };
  return "copy of " + count(bytes) + " from " + word(fromSide) + " to " +
         word(toSide);
}

/// Nothing of memory that is not pinned.
std::optional<CopyWork::Print> CopyWork::fingerprint(uint64_t address) const {
  constexpr uint64_t kBasis = 0xcbf29ce484222325;
  Driver &driver = Driver::get();
  const Range *range = driver.space.find(address);
  ptx::Allocation *allocation = driver.memory.find(address, bytes);
  if (!range || range->place == Place::device || !allocation)
    return std::nullopt;
  Print print{kBasis, kBasis, driver.hostCalls};
  size_t at = address - allocation->base;
  print.bytes = mix(kBasis, allocation->host + at, bytes);
  const auto &writers = allocation->touched.writers;
  size_t first = at / 2, last = std::min(writers.size(), (at + bytes + 1) / 2);
  if (first < last)
    print.writers = mix(kBasis, writers.data() + first, 8 * (last - first));
  return print;
}

void CopyWork::start() {
  if (fromPageable) {
    const auto *host = reinterpret_cast<const std::byte *>(from);
    staged.assign(host, host + bytes);
  } else {
    fromPrint = fingerprint(from);
  }
  if (!toPageable)
    toPrint = fingerprint(to);
}

Progress CopyWork::run(std::optional<ptx::Fault> &fault) {
  Driver &driver = Driver::get();
  driver.begin();
  if (fromPrint && fingerprint(from)->isOverwritten(*fromPrint))
    fault = hostFault("the host wrote to pinned memory that an asynchronous "
                      "copy still reads");
  if (toPrint && fingerprint(to)->isOverwritten(*toPrint))
    fault = hostFault("the host wrote to pinned memory that an asynchronous "
                      "copy will write");
  const std::byte *source = staged.data();
  if (!fault && !fromPageable)
    source = driver.touch(from, bytes, ptx::Access::read, "a copy", fault);
  std::byte *target = reinterpret_cast<std::byte *>(to);
  if (!fault && !toPageable)
    target = driver.touch(to, bytes, ptx::Access::write, "a copy", fault);
  if (!fault)
    std::memmove(target, source, bytes);
  return Progress::done;
}

std::string FillWork::name() const {
  return "memset of " + count(width * height * elementBytes);
}

Progress FillWork::run(std::optional<ptx::Fault> &fault) {
  Driver &driver = Driver::get();
  driver.begin();
  for (size_t row = 0; row < height && !fault; ++row) {
    std::byte *at = driver.touch(to + row * pitch, width * elementBytes,
                                 ptx::Access::write, "a memset", fault);
    if (elementBytes == 1 && at)
      fillBytes(to + row * pitch, at, width, std::byte(value));
    else
      for (size_t k = 0; at && k < width; ++k)
        std::memcpy(at + k * elementBytes, &value, elementBytes);
  }
  return Progress::done;
}

Progress HostWork::run(std::optional<ptx::Fault> &) {
  Driver &driver = Driver::get();
  if (function) {
    driver.callHost(function, data);
  } else {
    auto call = [](void *self) {
      auto *work = static_cast<HostWork *>(self);
      work->callback(work->stream, CUDA_SUCCESS, work->data);
    };
    driver.callHost(call, this);
  }
  return Progress::done;
}

} // namespace mtc::standin

//===- address_space.cpp - device and pinned memory -----------------------===//
#include "test/cuda/driver/address_space.h"

#include "test/cuda/driver/handles.h"
#include "test/cuda/ptx/repeat.h"

#include <cstdlib>
#include <sys/mman.h>

namespace mtc::standin {
namespace {

constexpr size_t kPage = 4096;
/// What cuMemAlloc promises; more would hide what relies on more.
constexpr size_t kAlign = 256;

size_t pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::byte *map(size_t bytes, int rights) {
  void *at = mmap(nullptr, bytes, rights,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte *>(at);
}

} // namespace

const Range *AddressSpace::add(Range range, bool written,
                               const std::string &name) {
  if (!memory.adopt(range.base, range.bytes, range.host, written, name))
    return nullptr;
  if (range.place == Place::device)
    memory.assign(range.base, range.context->device);
  return &(ranges[range.base] = range);
}

const Range *AddressSpace::allocate(CUctx_st *context, size_t bytes,
                                    bool oddAlignment) {
  // A page before and behind, which no access of one past the end gets over.
  std::byte *addresses = map(pages(bytes) + 3 * kPage, PROT_NONE);
  std::byte *host = map(pages(bytes), PROT_READ | PROT_WRITE);
  if (!addresses || !host)
    return nullptr;
  ptx::repeat(host, bytes, std::byte(0xff));
  Range range{Place::device, reinterpret_cast<uint64_t>(addresses + kPage),
              bytes, context};
  range.base += oddAlignment ? kAlign : 0;
  range.host = host;
  used[context] += bytes;
  return add(range, false, "allocation " + std::to_string(++made));
}

const Range *AddressSpace::allocatePinned(CUctx_st *context, size_t bytes) {
  std::byte *host = map(pages(bytes), PROT_READ | PROT_WRITE);
  if (!host)
    return nullptr;
  ptx::repeat(host, bytes, std::byte(0xff));
  Range range{Place::pinned, reinterpret_cast<uint64_t>(host), bytes, context};
  range.host = host;
  return add(range, true, "pinned memory " + std::to_string(++made));
}

const Range *AddressSpace::registerHost(CUctx_st *context, void *host,
                                        size_t bytes) {
  Range range{Place::registered, reinterpret_cast<uint64_t>(host), bytes,
              context};
  range.host = static_cast<std::byte *>(host);
  return add(range, true, "registered memory " + std::to_string(++made));
}

void AddressSpace::addVariable(CUctx_st *context, uint64_t base, size_t bytes,
                               std::byte *host) {
  memory.assign(base, context->device);
  Range range{Place::device, base, bytes, context, true};
  range.host = host;
  ranges[base] = range;
}

void AddressSpace::release(uint64_t base) {
  const Range range = ranges.at(base);
  ranges.erase(base);
  (void)memory.release(base);
  if (range.place == Place::registered)
    return;
  if (range.place == Place::device) {
    used[range.context] -= range.bytes;
    munmap(range.host, pages(range.bytes));
  } else {
    // Its address is not used again, and a touch is found.
    mprotect(range.host, pages(range.bytes), PROT_NONE);
  }
}

void AddressSpace::clear(const CUctx_st *context) {
  for (auto next = ranges.begin(); next != ranges.end();) {
    auto each = next++;
    if (each->second.context != context)
      continue;
    if (each->second.variable)
      ranges.erase(each);
    else
      release(each->first);
  }
}

size_t AddressSpace::deviceBytes(const CUctx_st *context) const {
  size_t sum = 0;
  for (const auto &[whose, bytes] : used)
    sum += !context || whose == context ? bytes : 0;
  return sum;
}

Range *AddressSpace::find(uint64_t address) {
  auto after = ranges.upper_bound(address);
  if (after == ranges.begin())
    return nullptr;
  Range &range = std::prev(after)->second;
  return address - range.base < range.bytes ? &range : nullptr;
}

bool AddressSpace::meets(uint64_t address, size_t bytes) {
  if (find(address))
    return true;
  auto after = ranges.upper_bound(address);
  return after != ranges.end() && after->first - address < bytes;
}

std::string AddressSpace::leaks() const {
  std::string text;
  for (const auto &[base, range] : ranges)
    if (!range.variable)
      text +=
          (text.empty() ? "" : ", ") + std::to_string(range.bytes) +
          (range.place == Place::device ? " device bytes" : " pinned bytes");
  return text;
}

} // namespace mtc::standin

//===- memory.cpp - device memory with shadows ----------------------------===//
#include "test/cuda/ptx/memory.h"

#include "test/cuda/ptx/machine/shadow.h"
#include "test/cuda/ptx/repeat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mtc::ptx {
namespace {

constexpr Address kFirst = Address(0x7f) << 32; // as real ones look
constexpr size_t kAlign = 256;
/// One operation has a tag's 20 bits.
constexpr uint32_t kSlots = (1u << 20) - 1;

/// Of [at, at + bytes); its end: all are written.
size_t firstUnwritten(const Allocation &of, size_t at, size_t bytes) {
  // In parts that compilers make vectors of.
  constexpr size_t kPart = 64;
  auto begin = of.states.begin() + ptrdiff_t(at);
  for (size_t done = 0; done < bytes; done += kPart) {
    size_t count = std::min(kPart, bytes - done);
    unsigned different = 0;
    for (size_t k = 0; k < count; ++k)
      different |=
          unsigned(begin[ptrdiff_t(done + k)]) ^ unsigned(ByteState::written);
    if (!different)
      continue;
    auto from = begin + ptrdiff_t(done);
    return size_t(std::find_if(from, from + ptrdiff_t(count),
                               [](ByteState state) {
                                 return state != ByteState::written;
                               }) -
                  of.states.begin());
  }
  return at + bytes;
}

/// The first granule from `g` on whose tag is another than `passed` and
/// somebody's; `end`: there is none.
size_t nextOther(const Zeroed<uint64_t> &tags, size_t g, size_t end,
                 uint64_t passed) {
  // In parts that compilers make vectors of.
  constexpr size_t kPart = 16;
  for (; g + kPart <= end; g += kPart) {
    uint64_t others = 0;
    for (size_t k = g; k < g + kPart; ++k)
      others |= tags[k] == passed ? 0 : tags[k];
    if (others)
      break;
  }
  while (g < end && (!tags[g] || tags[g] == passed))
    ++g;
  return g;
}

} // namespace

Memory::Memory(MemoryRules rules)
    : rules_(rules), next_(kFirst), ids_(2, 0), answers_(2) {}
Memory::~Memory() = default;

Address Memory::allocate(size_t bytes, std::string name) {
  bytes = std::max<size_t>(bytes, 1);
  Address base = next_;
  while (meetsAnother(base, bytes))
    base += kAlign;
  // A gap that no access of one past the end gets over.
  next_ = base + (bytes + 2 * kAlign - 1) / kAlign * kAlign;
  auto made = std::make_unique<Allocation>();
  made->base = base;
  made->bytes = bytes;
  made->owned.assign(bytes, std::byte(0xff));
  made->host = made->owned.data();
  made->name = std::move(name);
  insert(std::move(made));
  return base;
}

bool Memory::adopt(Address base, size_t bytes, std::byte *host, bool written,
                   std::string name) {
  if (bytes == 0 || base + bytes < base || meetsAnother(base, bytes))
    return false;
  auto made = std::make_unique<Allocation>();
  made->base = base;
  made->bytes = bytes;
  made->host = host;
  made->name = std::move(name);
  Allocation *kept = made.get();
  insert(std::move(made));
  if (written)
    repeat(kept->states.begin(), kept->states.size(), ByteState::written);
  return true;
}

bool Memory::meetsAnother(Address base, size_t bytes) const {
  auto after = allocations_.lower_bound(base);
  if (after != allocations_.end() && after->first - base < bytes)
    return true;
  return after != allocations_.begin() &&
         base - std::prev(after)->first < std::prev(after)->second->bytes;
}

void Memory::insert(std::unique_ptr<Allocation> allocation) {
  if (rules_.initialised)
    allocation->states.reset(allocation->bytes); // unwritten
  if (rules_.races)
    allocation->touched.reset(allocation->bytes);
  // What was freed at these addresses is forgotten.
  Address base = allocation->base, end = base + allocation->bytes;
  auto it = freed_.lower_bound(base);
  if (it != freed_.begin() &&
      base - std::prev(it)->first < std::prev(it)->second.bytes)
    --it;
  while (it != freed_.end() && it->first < end)
    it = freed_.erase(it);
  allocations_[base] = std::move(allocation);
}

std::optional<Fault> Memory::release(Address base) {
  auto it = allocations_.find(base);
  if (it == allocations_.end()) {
    std::string sentence;
    FaultKind kind = explain(base, 1, &sentence);
    if (find(base, 1)) {
      kind = FaultKind::outOfBounds;
      sentence = fmt::format("0x{:x} lies within an allocation", base);
    }
    return Fault{kind, "a release: " + sentence, {}};
  }
  freed_[base] = {it->second->bytes, it->second->name};
  allocations_.erase(it);
  return std::nullopt;
}

void Memory::protect(Address base) { allocations_.at(base)->readOnly = true; }

void Memory::assign(Address base, unsigned owner) {
  allocations_.at(base)->owner = int(owner);
}

Allocation *Memory::find(Address address, size_t bytes) {
  auto it = allocations_.upper_bound(address);
  if (it == allocations_.begin())
    return nullptr;
  Allocation *found = std::prev(it)->second.get();
  return found->holds(address, bytes) ? found : nullptr;
}

void Memory::begin(Operation operation) {
  operation_ = operation;
  if (ids_.size() > kSlots) {
    // All tags are used: what came before is forgotten.
    for (auto &[base, each] : allocations_)
      if (rules_.races)
        each->touched.reset(each->bytes);
    ids_.resize(1);
    answers_.resize(1);
  }
  slot_ = uint32_t(ids_.size());
  ids_.push_back(operation.id);
  answers_.push_back({});
}

void Memory::setOrder(std::function<bool(uint64_t id)> ordered) {
  ordered_ = std::move(ordered);
}

FaultKind Memory::explain(Address address, size_t bytes,
                          std::string *sentence) const {
  if (address < kFirstAddress) {
    *sentence = fmt::format("address 0x{:x} is a null pointer", address);
    return FaultKind::nullPointer;
  }
  auto freed = freed_.upper_bound(address + bytes - 1);
  if (freed != freed_.begin()) {
    const auto &[base, what] = *std::prev(freed);
    if (address >= base && address - base < what.bytes) {
      *sentence = fmt::format("address 0x{:x} is byte {} of '{}', which was "
                              "freed",
                              address, address - base, what.name);
      return FaultKind::useAfterFree;
    }
  }
  auto after = allocations_.upper_bound(address);
  *sentence =
      fmt::format("no allocation holds {} bytes at 0x{:x}", bytes, address);
  if (after != allocations_.begin()) {
    const Allocation &below = *std::prev(after)->second;
    *sentence += fmt::format(": byte {} of '{}', which has {}",
                             address - below.base, below.name, below.bytes);
  } else if (after != allocations_.end()) {
    *sentence += fmt::format(": {} bytes before '{}'", after->first - address,
                             after->second->name);
  }
  return FaultKind::outOfBounds;
}

std::string Memory::explainReach(const Allocation &allocation) const {
  return fmt::format("'{}' is memory of device {}, which is not reached from "
                     "here",
                     allocation.name, allocation.owner);
}

std::optional<Fault> Memory::conflict(Allocation &allocation, size_t at,
                                      size_t bytes, Access access,
                                      const std::string &who) {
  Tag mine = Tag::ofOperation(slot_);
  bool writes = access != Access::read;
  std::optional<Fault> found;
  size_t first = at / 2, count = (at + bytes + 1) / 2 - first;
  TouchShadow &touched = allocation.touched;
  size_t end = std::min(first + count, std::max(first, touched.touchedEnd));
  // Neighbours mostly have one tag: of those that passed nobody is asked again.
  auto check = [&](const Zeroed<uint64_t> &tags) {
    uint64_t passed = 0;
    for (size_t g = first; g < end && !found; ++g) {
      g = nextOther(tags, g, end, passed);
      if (g == end)
        break;
      passed = tags[g];
      if (!isOrdered(Tag{passed}.operation()))
        found = Fault{
            FaultKind::operationRace,
            fmt::format("{}: operation {} {} byte {} of '{}', which operation "
                        "{} uses; nothing orders them",
                        who, operation_.id, writes ? "writes" : "reads", 2 * g,
                        allocation.name, idOf(Tag{passed}.operation())),
            {}};
    }
  };
  check(touched.writers);
  for (auto &readers : touched.readers)
    if (writes && !readers.empty())
      check(readers);
  if (found)
    return found;
  auto &noted = writes ? touched.writers : touched.readersOf(operation_.stream);
  repeat(noted.begin() + ptrdiff_t(first), count, mine.bits);
  touched.touchedEnd = std::max(touched.touchedEnd, first + count);
  return std::nullopt;
}

std::optional<Fault> Memory::touch(Address address, size_t bytes, Access access,
                                   const std::string &who, std::byte **host) {
  *host = nullptr;
  if (bytes == 0)
    return std::nullopt;
  Allocation *allocation = find(address, bytes);
  if (!allocation) {
    std::string sentence;
    FaultKind kind = explain(address, bytes, &sentence);
    return Fault{kind, who + ": " + sentence, {}};
  }
  if (!reaches(*allocation))
    return Fault{
        FaultKind::outOfBounds, who + ": " + explainReach(*allocation), {}};
  size_t at = address - allocation->base;
  if (rules_.initialised && access != Access::write)
    if (size_t k = firstUnwritten(*allocation, at, bytes); k != at + bytes)
      return Fault{FaultKind::uninitialised,
                   fmt::format("{}: byte {} of '{}' was never written", who, k,
                               allocation->name),
                   {}};
  if (rules_.races)
    if (auto fault = conflict(*allocation, at, bytes, access, who))
      return fault;
  if (rules_.initialised && access != Access::read)
    repeat(allocation->states.begin() + at, bytes, ByteState::written);
  *host = allocation->host + at;
  return std::nullopt;
}

void Memory::initialise(Address base, std::span<const std::byte> bytes) {
  Allocation &allocation = *allocations_.at(base);
  size_t count = std::min(bytes.size(), allocation.bytes);
  std::copy_n(bytes.data(), count, allocation.host);
  if (rules_.initialised)
    std::fill_n(allocation.states.begin(), count, ByteState::written);
}

void Memory::forget(Address address, size_t bytes) {
  Allocation *allocation = find(address, bytes);
  if (allocation && rules_.initialised)
    repeat(allocation->states.begin() + (address - allocation->base), bytes,
           ByteState::unwritten);
}

} // namespace mtc::ptx

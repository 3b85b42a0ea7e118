//===- memory.h - device memory with shadows --------------------*- C++ -*-===//
//
// Memory as a device sees it: allocations at addresses that need not be those
// of the host. Beside its bytes an allocation has shadows: which bytes have
// been written, and who touched each two bytes last. An operation is whatever
// a stream orders as one thing: a launch, a copy, a call of a library. Within
// a launch the executor tells threads from each other.
//
// Not for several threads at once.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MEMORY_H
#define MTC_TEST_CUDA_PTX_MEMORY_H

#include "test/cuda/ptx/allocation.h"
#include "test/cuda/ptx/fault.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mtc::ptx {

/// One operation of a stream.
struct Operation {
  uint64_t id = 0;     ///< given by the caller, who is asked of it again
  unsigned stream = 0; ///< below Memory::kStreams
};

struct MemoryRules {
  bool initialised = true; ///< reading bytes that nothing wrote is a fault
  bool races = true;       ///< conflicts inside launches and of operations
};

class Memory {
public:
  static constexpr unsigned kStreams = 16;
  /// Addresses below are taken for null pointers.
  static constexpr Address kFirstAddress = 1 << 16;

  explicit Memory(MemoryRules rules = {});
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// `bytes` new bytes that this owns, full of 0xff and unwritten, at a
  /// multiple of 256. `name` is for messages.
  Address allocate(size_t bytes, std::string name);
  /// The caller's bytes at `host`, which outlive the allocation, as [base, base
  /// + bytes). False: the range is empty, ends past the last address or meets
  /// another allocation. `written`: the bytes have values already.
  bool adopt(Address base, size_t bytes, std::byte *host, bool written,
             std::string name);
  /// Ends the allocation that starts at `base`. The range is remembered until
  /// another takes its place. A fault: none starts there.
  [[nodiscard]] std::optional<Fault> release(Address base);
  /// From now on the bytes of the allocation at `base` are written by no
  /// kernel.
  void protect(Address base);
  /// From now on the allocation at `base` is memory of device `owner`, from 0
  /// to 63, and other devices reach it only where `setReach` says so.
  void assign(Address base, unsigned owner);
  /// Of which devices' memory the operations from now on may touch, a bit for
  /// each. At first: of all.
  void setReach(uint64_t owners) { reach_ = owners; }
  bool reaches(const Allocation &allocation) const {
    return allocation.owner < 0 || reach_ >> allocation.owner & 1;
  }
  /// The allocation that holds the whole range, or null.
  Allocation *find(Address address, size_t bytes);

  /// What touches memory from now on is part of `operation`. Its id may come
  /// again (a captured graph that is launched twice): each call begins a new
  /// operation.
  void begin(Operation operation);
  const Operation &operation() const { return operation_; }
  /// `ordered(id)`: whether the operation of that id, begun before the present
  /// one, ended before it by streams and events. Without this function all
  /// operations are taken for ordered as they began.
  void setOrder(std::function<bool(uint64_t id)> ordered);

  /// For all that is not a kernel: checks and notes that the present operation
  /// reads or writes the range, and sets *host to its bytes. `who` begins the
  /// sentence of a fault: "a copy to the host". No bytes: no fault, *host null.
  [[nodiscard]] std::optional<Fault> touch(Address address, size_t bytes,
                                           Access access,
                                           const std::string &who,
                                           std::byte **host);
  /// Puts bytes at the start of the allocation at `base`, as if they had always
  /// been there: no operation does it.
  void initialise(Address base, std::span<const std::byte> bytes);
  /// The range has no values any more, as after an allocation.
  void forget(Address address, size_t bytes);

  // For the executor.
  const MemoryRules &rules() const { return rules_; }
  /// Why no allocation holds these bytes: kind and words.
  FaultKind explain(Address address, size_t bytes, std::string *sentence) const;
  /// The same of an allocation that the present operation does not reach.
  std::string explainReach(const Allocation &allocation) const;
  /// Of the present operation, within the tags of shadows; never 0.
  uint32_t slot() const { return slot_; }
  bool hasOrder() const { return bool(ordered_); }
  /// Whether the operation of a tag ended before the present one.
  bool isOrdered(uint32_t slot) {
    if (!ordered_ || slot == slot_)
      return true;
    Answer &answer = answers_[slot];
    if (answer.asker != slot_)
      answer = {slot_, ordered_(ids_[slot])};
    return answer.ordered;
  }
  /// The id that began() gave the operation of a tag.
  uint64_t idOf(uint32_t slot) const { return ids_[slot]; }

private:
  struct Freed {
    size_t bytes;
    std::string name;
  };
  bool meetsAnother(Address base, size_t bytes) const;
  void insert(std::unique_ptr<Allocation> allocation);
  std::optional<Fault> conflict(Allocation &allocation, size_t at, size_t bytes,
                                Access access, const std::string &who);

  MemoryRules rules_;
  std::map<Address, std::unique_ptr<Allocation>> allocations_;
  std::map<Address, Freed> freed_;
  Address next_;
  uint64_t reach_ = ~uint64_t(0);
  Operation operation_;
  uint32_t slot_ = 1;
  std::vector<uint64_t> ids_; ///< by slot
  struct Answer {
    uint32_t asker = 0; ///< a slot
    bool ordered = false;
  };
  std::vector<Answer>
      answers_; ///< by slot: the last one of setOrder's function
  std::function<bool(uint64_t)> ordered_;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MEMORY_H

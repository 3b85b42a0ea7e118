//===- address_space.h - device and pinned memory ---------------*- C++ -*-===//
//
// Addresses of device memory are reserved in the host's address space without
// any right, so that a host that touches one dies as it does on a real machine.
// The bytes are elsewhere. No address is given out twice.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_DRIVER_ADDRESS_SPACE_H
#define MTC_TEST_CUDA_DRIVER_ADDRESS_SPACE_H

#include "test/cuda/ptx/memory.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

struct CUctx_st;

namespace mtc::standin {

enum class Place { nowhere, device, pinned, registered };

struct Range {
  Place place = Place::nowhere;
  uint64_t base = 0;
  size_t bytes = 0;
  CUctx_st *context = nullptr; ///< in which it was made
  bool variable = false;       ///< of a module: not to be freed
  std::byte *host = nullptr;
  /// Of pinned memory: how often the device wrote to it.
  uint64_t writes = 0;
};

class AddressSpace {
public:
  explicit AddressSpace(ptx::Memory &memory) : memory(memory) {}

  // All of these are of a context. Device memory is of its GPU alone, the
  // host's is reached by all.

  /// Null: there is no such amount.
  const Range *allocate(CUctx_st *context, size_t bytes, bool oddAlignment);
  const Range *allocatePinned(CUctx_st *context, size_t bytes);
  /// Null: it meets a range that is there.
  const Range *registerHost(CUctx_st *context, void *host, size_t bytes);
  /// The base of a range; what it held stays remembered as freed.
  void release(uint64_t base);

  /// All of a context.
  void clear(const CUctx_st *context);

  /// The range that has this byte, or null.
  Range *find(uint64_t address);
  /// Whether [address, address + bytes) meets a range.
  bool meets(uint64_t address, size_t bytes);
  /// The variables of a module lie where the executor put them.
  void addVariable(CUctx_st *context, uint64_t base, size_t bytes,
                   std::byte *host);
  void removeVariable(uint64_t base) { ranges.erase(base); }

  /// Of a GPU; null: of all.
  size_t deviceBytes(const CUctx_st *context) const;
  /// What is still there, in words; empty: nothing.
  std::string leaks() const;

private:
  const Range *add(Range range, bool written, const std::string &name);

  ptx::Memory &memory;
  std::map<uint64_t, Range> ranges; ///< by base
  std::map<const CUctx_st *, size_t> used;
  unsigned made = 0;
};

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_ADDRESS_SPACE_H

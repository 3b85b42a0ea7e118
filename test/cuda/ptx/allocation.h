//===- allocation.h - bytes of a device and their shadows -------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_ALLOCATION_H
#define MTC_TEST_CUDA_PTX_ALLOCATION_H

#include "test/cuda/ptx/zeroed.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mtc::ptx {

/// Of a byte of the device.
using Address = uint64_t;

enum class Access : uint8_t { read, write, atomic };

/// What a byte of memory holds.
enum class ByteState : uint8_t {
  unwritten = 0,
  written = 1,
  pending = 2,   ///< an asynchronous copy to it is not waited for
  beingRead = 3, ///< written, and a wgmma that reads it is not waited for
};

/// Who touched what, of each two bytes (a granule). Tags are of shadow.h.
struct TouchShadow {
  Zeroed<uint64_t> writers;
  /// By stream; made when that stream first reads.
  std::array<Zeroed<uint64_t>, 16> readers;
  /// Nobody has touched any granule from here on.
  size_t touchedEnd = 0;

  /// The readers of a stream, one per granule.
  Zeroed<uint64_t> &readersOf(unsigned stream) {
    if (readers[stream].empty())
      readers[stream].reset(writers.size());
    return readers[stream];
  }
  /// Nobody has touched any granule of `bytes` bytes.
  void reset(size_t bytes) {
    writers.reset((bytes + 1) / 2);
    for (auto &each : readers)
      each.clear();
    touchedEnd = 0;
  }
  /// Whoever gets at tags without more words may touch all of them.
  void open() { touchedEnd = writers.size(); }
};

/// A range of addresses that a device has.
struct Allocation {
  Address base = 0;
  size_t bytes = 0;
  std::byte *host = nullptr;    ///< where the bytes are; a kernel never sees it
  std::vector<std::byte> owned; ///< empty: somebody else has the bytes
  std::string name;
  bool readOnly = false;
  int owner = -1; ///< whose memory it is (Memory::assign); -1: everybody's
  Zeroed<ByteState> states; ///< per byte; empty: not followed
  TouchShadow touched;      ///< empty: not followed

  bool holds(Address address, size_t count) const {
    return address >= base && address - base <= bytes &&
           count <= bytes - (address - base);
  }
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_ALLOCATION_H

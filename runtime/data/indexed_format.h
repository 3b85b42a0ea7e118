//===- indexed_format.h - the header of an .idx -----------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_INDEXED_FORMAT_H
#define MTC_RUNTIME_DATA_INDEXED_FORMAT_H

#include <cstdint>
#include <cstring>

namespace mtc::runtime {

inline constexpr char kIndexedMagic[9] = {'M', 'M', 'I', 'D', 'I',
                                          'D', 'X', 0,   0};
inline constexpr uint64_t kIndexedVersion = 1;

/// As it lies in the file: the arrays behind it begin at an odd offset, so no
/// pointer to their elements is aligned.
struct IndexedHeader {
  static constexpr int64_t kBytes = 34;

  char magic[9];
  uint64_t version;
  uint8_t code;
  uint64_t sequences, documentStarts;

  static IndexedHeader parse(const char (&bytes)[kBytes]) {
    IndexedHeader h;
    std::memcpy(h.magic, bytes, 9);
    std::memcpy(&h.version, bytes + 9, 8);
    std::memcpy(&h.code, bytes + 17, 1);
    std::memcpy(&h.sequences, bytes + 18, 8);
    std::memcpy(&h.documentStarts, bytes + 26, 8);
    return h;
  }
  void write(char (&bytes)[kBytes]) const {
    std::memcpy(bytes, magic, 9);
    std::memcpy(bytes + 9, &version, 8);
    std::memcpy(bytes + 17, &code, 1);
    std::memcpy(bytes + 18, &sequences, 8);
    std::memcpy(bytes + 26, &documentStarts, 8);
  }
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_INDEXED_FORMAT_H

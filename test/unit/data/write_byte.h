//===- write_byte.h - one byte of a file is another one ---------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_DATA_WRITE_BYTE_H
#define MTC_TEST_UNIT_DATA_WRITE_BYTE_H

#include <fstream>
#include <string>

namespace mtc::runtime::test {

/// In its place: a file that is written anew costs a disk more.
inline void writeByte(const std::string &path, size_t at, char byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at)).put(byte);
}

} // namespace mtc::runtime::test
#endif // MTC_TEST_UNIT_DATA_WRITE_BYTE_H

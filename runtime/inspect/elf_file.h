//===- elf_file.h - an ELF file, read without trust -------------*- C++ -*-===//
//
// Every offset comes from the file, so every access goes through `view`, which
// rejects what is outside.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_INSPECT_ELF_FILE_H
#define MTC_RUNTIME_INSPECT_ELF_FILE_H

#include "runtime/base/file.h"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// A 64-bit little-endian ELF object, executable or shared object.
class ElfFile {
public:
  /// Errors: inputRejected when there is no file, or one of another kind.
  static Status open(const std::string &path, ElfFile &out);

  const Elf64_Ehdr &header() const { return header_; }

  /// `bytes` bytes at `offset`; empty if they are not all in the file.
  std::string_view view(uint64_t offset, uint64_t bytes) const;

  /// A record at `offset`; false if it is not in the file.
  template <typename T> bool read(uint64_t offset, T &out) const {
    std::string_view bytes = view(offset, sizeof(T));
    if (bytes.size() != sizeof(T))
      return false;
    std::memcpy(&out, bytes.data(), sizeof(T));
    return true;
  }

  bool readSection(uint64_t index, Elf64_Shdr &out) const;

  /// The bytes of the section of texts that `section` names; empty if none.
  std::string_view textsOf(const Elf64_Shdr &section) const;

private:
  std::string file_;
  Elf64_Ehdr header_{};
};

/// The NUL-terminated text at `at`; false if it does not end inside `texts`.
bool readText(std::string_view texts, uint64_t at, std::string &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_ELF_FILE_H

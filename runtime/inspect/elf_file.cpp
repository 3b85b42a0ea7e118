//===- elf_file.cpp - an ELF file, read without trust ---------------------===//

#include "runtime/inspect/elf_file.h"

#include <fmt/format.h>

namespace mtc::runtime {

Status ElfFile::open(const std::string &path, ElfFile &out) {
  MTC_RETURN_IF_ERROR(readWholeFile(path, out.file_));
  const Elf64_Ehdr &header = out.header_;
  if (out.read(0, out.header_) &&
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
      header.e_ident[EI_CLASS] == ELFCLASS64 &&
      header.e_ident[EI_DATA] == ELFDATA2LSB &&
      header.e_shentsize == sizeof(Elf64_Shdr))
    return Status::okay();
  return {
      StatusCode::inputRejected,
      fmt::format(
          "'{}': expected a bundle, or a program of one (a 64-bit ELF file)",
          path)};
}

std::string_view ElfFile::view(uint64_t offset, uint64_t bytes) const {
  if (offset > file_.size() || bytes > file_.size() - offset)
    return {};
  return std::string_view(file_).substr(offset, bytes);
}

bool ElfFile::readSection(uint64_t index, Elf64_Shdr &out) const {
  return index < header_.e_shnum &&
         read(header_.e_shoff + index * sizeof(Elf64_Shdr), out);
}

std::string_view ElfFile::textsOf(const Elf64_Shdr &section) const {
  Elf64_Shdr texts;
  return readSection(section.sh_link, texts)
             ? view(texts.sh_offset, texts.sh_size)
             : std::string_view();
}

bool readText(std::string_view texts, uint64_t at, std::string &out) {
  if (at >= texts.size())
    return false;
  size_t end = texts.find('\0', at);
  if (end == std::string_view::npos)
    return false;
  out = texts.substr(at, end - at);
  return true;
}

} // namespace mtc::runtime

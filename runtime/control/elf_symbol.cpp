//===- elf_symbol.cpp - reads a string out of an ELF file -----------------===//
//
// Every offset comes from the file, so every access goes through `view`, which
// rejects what is outside.
//
//===----------------------------------------------------------------------===//

#include "runtime/control/elf_symbol.h"

#include "runtime/base/file.h"

#include <fmt/format.h>

#include <cstring>
#include <elf.h>

namespace mtc::runtime {
namespace {

class ElfReader {
public:
  explicit ElfReader(std::string_view file) : file_(file) {}

  bool open() {
    return read(0, header_) &&
           std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
           header_.e_ident[EI_CLASS] == ELFCLASS64 &&
           header_.e_ident[EI_DATA] == ELFDATA2LSB &&
           header_.e_shentsize == sizeof(Elf64_Shdr);
  }

  bool findText(std::string_view name, std::string &text) const {
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      Elf64_Shdr section;
      if (readSection(i, section) &&
          (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) &&
          searchTable(section, name, text))
        return true;
    }
    return false;
  }

private:
  std::string_view view(uint64_t offset, uint64_t bytes) const {
    if (offset > file_.size() || bytes > file_.size() - offset)
      return {};
    return file_.substr(offset, bytes);
  }

  template <typename T> bool read(uint64_t offset, T &out) const {
    std::string_view bytes = view(offset, sizeof(T));
    if (bytes.size() != sizeof(T))
      return false;
    std::memcpy(&out, bytes.data(), sizeof(T));
    return true;
  }

  bool readSection(uint64_t index, Elf64_Shdr &out) const {
    return index < header_.e_shnum &&
           read(header_.e_shoff + index * sizeof(Elf64_Shdr), out);
  }

  bool searchTable(const Elf64_Shdr &table, std::string_view name,
                   std::string &text) const {
    Elf64_Shdr strings;
    if (!readSection(table.sh_link, strings))
      return false;
    std::string_view names = view(strings.sh_offset, strings.sh_size);
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size;
         at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!read(table.sh_offset + at, symbol))
        return false;
      if (hasName(names, symbol.st_name, name) && readText(symbol, text))
        return true;
    }
    return false;
  }

  static bool hasName(std::string_view names, uint64_t at,
                      std::string_view name) {
    return at < names.size() && names.size() - at > name.size() &&
           names.substr(at, name.size()) == name &&
           names[at + name.size()] == '\0';
  }

  bool readText(const Elf64_Sym &symbol, std::string &text) const {
    Elf64_Shdr section;
    if (!readSection(symbol.st_shndx, section) ||
        section.sh_type != SHT_PROGBITS)
      return false;
    // In an object file values are relative to the section already.
    uint64_t base = header_.e_type == ET_REL ? 0 : section.sh_addr;
    std::string_view bytes = view(section.sh_offset, section.sh_size);
    if (symbol.st_value < base || symbol.st_value - base >= bytes.size())
      return false;
    bytes.remove_prefix(symbol.st_value - base);
    size_t end = bytes.find('\0');
    if (end == std::string_view::npos)
      return false;
    text = bytes.substr(0, end);
    return true;
  }

  std::string_view file_;
  Elf64_Ehdr header_{};
};

} // namespace

Status readElfText(const std::string &path, std::string_view name,
                   std::string &text) {
  std::string file;
  MTC_RETURN_IF_ERROR(readWholeFile(path, file));
  ElfReader reader(file);
  if (!reader.open())
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected a 64-bit ELF file", path)};
  if (!reader.findText(name, text))
    return {StatusCode::inputRejected,
            fmt::format("'{}' is not a compiled program of mtc: it has no "
                        "symbol {}; was it cut short or stripped? "
                        "compile the bundle again",
                        path, name)};
  return Status::okay();
}

} // namespace mtc::runtime

//===- elf_symbol.cpp - reads a string out of an ELF file -----------------===//

#include "runtime/inspect/elf_symbol.h"

#include "runtime/inspect/elf_file.h"

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

bool hasName(std::string_view names, uint64_t at, std::string_view name) {
  return at < names.size() && names.size() - at > name.size() &&
         names.substr(at, name.size()) == name &&
         names[at + name.size()] == '\0';
}

bool readValue(const ElfFile &file, const Elf64_Sym &symbol,
               std::string &text) {
  Elf64_Shdr section;
  if (!file.readSection(symbol.st_shndx, section) ||
      section.sh_type != SHT_PROGBITS)
    return false;
  // In an object file values are relative to the section already.
  uint64_t base = file.header().e_type == ET_REL ? 0 : section.sh_addr;
  return symbol.st_value >= base &&
         readText(file.view(section.sh_offset, section.sh_size),
                  symbol.st_value - base, text);
}

bool searchTable(const ElfFile &file, const Elf64_Shdr &table,
                 std::string_view name, std::string &text) {
  std::string_view names = file.textsOf(table);
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size;
       at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    if (!file.read(table.sh_offset + at, symbol))
      return false;
    if (hasName(names, symbol.st_name, name) && readValue(file, symbol, text))
      return true;
  }
  return false;
}

bool findText(const ElfFile &file, std::string_view name, std::string &text) {
  Elf64_Shdr section;
  for (unsigned i = 0; i < file.header().e_shnum; ++i)
    if (file.readSection(i, section) &&
        (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) &&
        searchTable(file, section, name, text))
      return true;
  return false;
}

} // namespace

Status readElfText(const std::string &path, std::string_view name,
                   std::string &text) {
  ElfFile file;
  MTC_RETURN_IF_ERROR(ElfFile::open(path, file));
  if (!findText(file, name, text))
    return {StatusCode::inputRejected,
            fmt::format("'{}' is not a compiled program of mtc: it has no "
                        "symbol {}; was it cut short or stripped? "
                        "compile the bundle again",
                        path, name)};
  return Status::okay();
}

} // namespace mtc::runtime

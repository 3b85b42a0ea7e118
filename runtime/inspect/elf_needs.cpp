//===- elf_needs.cpp - what an ELF file asks of a machine -----------------===//

#include "runtime/inspect/elf_needs.h"

#include "runtime/inspect/elf_file.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

Status damaged(const std::string &path, const char *part) {
  return {StatusCode::inputRejected,
          fmt::format("'{}': expected a whole {}, found that it is damaged; "
                      "compile the bundle again",
                      path, part)};
}

/// Section .dynamic: the libraries.
bool readLibraries(const ElfFile &file, const Elf64_Shdr &section,
                   ElfNeeds &needs) {
  std::string_view texts = file.textsOf(section);
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.sh_size;
       at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!file.read(section.sh_offset + at, entry))
      return false;
    if (entry.d_tag == DT_NULL)
      return true;
    std::string name;
    if (entry.d_tag != DT_NEEDED)
      continue;
    if (!readText(texts, entry.d_un.d_val, name))
      return false;
    needs.libraries[name];
  }
  return true;
}

/// The versions of one library; `at` is that of its first record. A distance of
/// 0 ends a list, whatever their number is.
bool readVersions(const ElfFile &file, std::string_view texts, uint64_t at,
                  unsigned count, std::set<std::string> &versions) {
  for (unsigned i = 0; i < count; ++i) {
    Elf64_Vernaux record;
    std::string name;
    if (!file.read(at, record) || !readText(texts, record.vna_name, name))
      return false;
    versions.insert(name);
    if (record.vna_next == 0)
      return i + 1 == count;
    at += record.vna_next;
  }
  return true;
}

/// Section .gnu.version_r: versions of symbols, library by library.
bool readVersionNeeds(const ElfFile &file, const Elf64_Shdr &section,
                      ElfNeeds &needs) {
  std::string_view texts = file.textsOf(section);
  uint64_t at = section.sh_offset;
  for (unsigned i = 0; i < section.sh_info; ++i) {
    Elf64_Verneed library;
    std::string name;
    if (!file.read(at, library) || !readText(texts, library.vn_file, name) ||
        !readVersions(file, texts, at + library.vn_aux, library.vn_cnt,
                      needs.libraries[name]))
      return false;
    if (library.vn_next == 0)
      return i + 1 == section.sh_info;
    at += library.vn_next;
  }
  return true;
}

/// The C library's note: {0 for Linux, and three parts of its version}. Other
/// notes are no concern of ours.
bool readNote(const ElfFile &file, const Elf64_Shdr &section, ElfNeeds &needs) {
  struct Note {
    Elf64_Nhdr head;
    char name[4];
    uint32_t words[4];
  } note;
  if (section.sh_size < sizeof note)
    return true;
  if (!file.read(section.sh_offset, note))
    return false;
  if (note.head.n_type == NT_GNU_ABI_TAG && note.head.n_namesz == 4 &&
      std::memcmp(note.name, ELF_NOTE_GNU, 4) == 0 && note.words[0] == 0)
    needs.kernel =
        std::max(needs.kernel, Version(note.words + 1, note.words + 4));
  return true;
}

/// "GLIBC_2.34": the words before the number, and the number; a name without
/// one is all words.
std::pair<std::string, Version> split(const std::string &name) {
  Version version;
  const char *at = name.data() + name.find_last_of('_') + 1;
  const char *end = name.data() + name.size();
  for (unsigned part = 0;; ++at) {
    auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc() || (next != end && *next != '.'))
      return {name, {}};
    version.push_back(part);
    at = next;
    if (at == end)
      return {name.substr(0, name.find_last_of('_')), version};
  }
}

} // namespace

std::string versionText(const Version &version) {
  return fmt::format("{}", fmt::join(version, "."));
}

Status addElfNeeds(const std::string &path, ElfNeeds &needs) {
  ElfFile file;
  MTC_RETURN_IF_ERROR(ElfFile::open(path, file));
  for (unsigned i = 0; i < file.header().e_shnum; ++i) {
    Elf64_Shdr section;
    if (!file.readSection(i, section))
      return damaged(path, "table of sections");
    if (section.sh_type == SHT_DYNAMIC && !readLibraries(file, section, needs))
      return damaged(path, "section .dynamic");
    if (section.sh_type == SHT_GNU_verneed &&
        !readVersionNeeds(file, section, needs))
      return damaged(path, "section .gnu.version_r");
    if (section.sh_type == SHT_NOTE && !readNote(file, section, needs))
      return damaged(path, "note");
  }
  return Status::okay();
}

std::vector<std::string>
highestVersions(const std::set<std::string> &versions) {
  std::map<std::string, std::pair<Version, std::string>> highest;
  for (const std::string &name : versions) {
    auto [words, version] = split(name);
    auto &entry = highest[words];
    if (entry.second.empty() || entry.first < version)
      entry = {version, name};
  }
  std::vector<std::string> names;
  for (const auto &[words, entry] : highest)
    names.push_back(entry.second);
  return names;
}

} // namespace mtc::runtime

//===- elf_test.cpp - what files ask of a machine, whole and damaged ------===//

#include "runtime/inspect/elf_needs.h"
#include "test/unit/runtime/temporary_folder.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <random>

namespace mtc::runtime::test {
namespace {

TEST(Needs, HighestVersionOfEachName) {
  EXPECT_EQ(
      highestVersions({"GLIBC_2.4", "GLIBC_2.34", "GLIBC_2.2.5",
                       "GLIBC_PRIVATE", "CXXABI_1.3.9", "CXXABI_1.3", "OMP_1.0",
                       "plain", "odd_1.x", "odd_"}),
      (std::vector<std::string>{"CXXABI_1.3.9", "GLIBC_2.34", "GLIBC_PRIVATE",
                                "OMP_1.0", "odd_", "odd_1.x", "plain"}));
}

/// A small shared object, and this test.
const std::string kSmall = std::string(FAKE_DIR) + "/fake_pp1.so";

TEST(Needs, OfThisExecutable) {
  ElfNeeds needs;
  Status status = addElfNeeds("/proc/self/exe", needs);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(needs.libraries.contains("libc.so.6"));
  EXPECT_TRUE(needs.libraries["libc.so.6"].contains("GLIBC_2.2.5"));
  EXPECT_TRUE(needs.libraries.contains("libdnnl.so.2"));
  EXPECT_GE(needs.kernel, (Version{2, 6}));
  EXPECT_EQ(versionText({3, 17}), "3.17");
}

/// Any answer is right but one: that the process ends.
TEST(Needs, DamagedFilesAreReadOrRejected) {
  TemporaryFolder folder;
  std::string whole = readFile(kSmall), path = folder.path("damaged.so");
  std::mt19937 random(7);
  int rejected = 0;
  for (int i = 0; i < 200; ++i) {
    std::string bytes = whole;
    // In the header, of which some bits are certain to matter; where tables and
    // texts are, at both ends; and anywhere.
    const size_t within[] = {sizeof(Elf64_Ehdr), 4096, 4096, bytes.size()};
    size_t at = random() % within[i % 4];
    at = i % 4 == 1 ? bytes.size() - 1 - at : at;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    writeFile(path, bytes);
    ElfNeeds needs;
    rejected += !addElfNeeds(path, needs).ok();
  }
  EXPECT_GT(rejected, 0);
  EXPECT_LT(rejected, 200);
}

TEST(Needs, ACutFileSaysWhichPartIsLacking) {
  TemporaryFolder folder;
  std::string whole = readFile(kSmall), path = folder.path("cut.so");
  writeFile(path, whole.substr(0, whole.size() - 100));
  ElfNeeds needs;
  Status status = addElfNeeds(path, needs);
  EXPECT_EQ(status.code(), StatusCode::inputRejected);
  EXPECT_NE(status.message().find("table of sections"), std::string::npos)
      << status.message();
  writeFile(path, whole.substr(0, 10));
  EXPECT_NE(addElfNeeds(path, needs).message().find("64-bit ELF file"),
            std::string::npos);
  // The section that the needs are in points behind the end.
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, whole.data() + at, sizeof section);
    if (section.sh_type != SHT_DYNAMIC && section.sh_type != SHT_GNU_verneed)
      continue;
    section.sh_offset = whole.size() - 8;
    std::string bytes = whole;
    std::memcpy(bytes.data() + at, &section, sizeof section);
    writeFile(path, bytes);
    status = addElfNeeds(path, needs);
    EXPECT_EQ(status.code(), StatusCode::inputRejected);
    EXPECT_NE(status.message().find("damaged"), std::string::npos);
  }
}

} // namespace
} // namespace mtc::runtime::test

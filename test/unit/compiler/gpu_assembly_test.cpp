//===- gpu_assembly_test.cpp - entries that spill are asked for again -----===//
//
// A program of the test's own takes the place of ptxas: it spills as the text
// says, whichever version of the toolkit is here, if any.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu_assembly.h"

#include "test/unit/runtime/temporary_folder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace mtc::compiler {
namespace {

/// For every entry: `// registers BLOCKS:REGISTERS:BYTES ...` in its body has
/// what a thread gets and spills where that many blocks are asked for, 0 for
/// none. The result is the text.
constexpr const char *kAssembler = R"(#!/bin/sh
exec awk '
{ all = all $0 "\n" }
/\.entry/ { split($2, words, "("); name = words[1]; blocks = 0 }
/^\.minnctapersm/ { blocks = $2 }
/registers/ {
  for (i = 3; i <= NF; ++i) {
    split($i, row, ":")
    if (row[1] != blocks)
      continue
    printf "Compiling entry function \047%s\047\n", name
    printf "%d bytes stack frame, %d bytes spill stores\n", row[3], row[3]
    printf "Used %d registers\n", row[2]
  }
}
/refused/ { print "ptxas fatal: refused"; exit 1 }
END { printf "%s", all > "/dev/fd/3" }'
)";

std::string entry(const std::string &name, int threads,
                  const std::string &registers) {
  return ".entry " + name + "(\n\t.param .u64 a\n)\n.reqntid " +
         std::to_string(threads) + ", 1, 1\n{\n\t// registers " + registers +
         "\n}\n";
}

class GpuAssembly : public testing::Test {
protected:
  void SetUp() override {
    ptxas_ = folder_.path("ptxas");
    runtime::test::writeFile(ptxas_, kAssembler);
    ASSERT_EQ(chmod(ptxas_.c_str(), 0700), 0);
  }

  /// The text that the cubin was made of.
  std::string assembled(const std::string &ptx) {
    code_ = {"sm_100", ptx, "", {}};
    runtime::Status status = assembleGpuCode(ptxas_, code_, entries_);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(code_.cubin, code_.ptx);
    return code_.ptx;
  }

  runtime::test::TemporaryFolder folder_;
  std::string ptxas_;
  codegen::GpuCode code_;
  std::map<std::string, runtime::AssembledEntry> entries_;
};

TEST_F(GpuAssembly, LeavesWhatDoesNotSpill) {
  const std::string text = entry("a", 512, "0:40:0") + entry("b", 32, "0:9:0");
  EXPECT_EQ(assembled(text), text);
  EXPECT_TRUE(code_.localBytes.empty());
  EXPECT_EQ(entries_.size(), 2u);
}

TEST_F(GpuAssembly, AsksForFewerBlocksOfWhatSpills) {
  // 40 registers are those of three blocks of 512 threads, 48 of two.
  const std::string fine = entry("a_sum", 1024, "0:20:0 1:20:0");
  const std::string text = entry("a", 512, "0:40:8 2:54:0") + fine;
  EXPECT_EQ(assembled(fine + text),
            fine + withBlocks(text, {{"a", 2}, {"other", 3}}));
  EXPECT_TRUE(code_.localBytes.empty());
  EXPECT_EQ(entries_["a"].registers, 54);
  EXPECT_NE(code_.ptx.find("512, 1, 1\n.minnctapersm 2\n{"), std::string::npos);
}

TEST_F(GpuAssembly, GoesOnToTheFewestThatHelp) {
  // Each time for 8 registers more, at least: 48, 56, 72 of 256 threads.
  const std::string text = entry("a", 256, "0:40:8 5:48:4 4:64:4 3:80:0");
  EXPECT_EQ(assembled(text), withBlocks(text, {{"a", 3}}));
  // More registers than were asked for, and it still spills: one block less.
  const std::string slow = entry("a", 512, "0:40:8 2:40:4 1:40:0");
  EXPECT_EQ(assembled(slow), withBlocks(slow, {{"a", 1}}));
}

TEST_F(GpuAssembly, SaysWhatNothingHelps) {
  const std::string full = entry("full", 1024, "0:64:24");
  const std::string wide = entry("wide", 32, "0:255:16");
  const std::string tried = entry("tried", 512, "0:40:8 2:64:4 1:128:4");
  const std::string helped = entry("helped", 512, "0:40:8 2:54:0");
  EXPECT_EQ(assembled(full + wide + helped + tried),
            withBlocks(full + wide + helped + tried, {{"helped", 2}}));
  EXPECT_EQ(code_.localBytes, (std::map<std::string, int64_t>{
                                  {"full", 24}, {"tried", 8}, {"wide", 16}}));
}

TEST_F(GpuAssembly, TellsWhatTheAssemblerSaid) {
  codegen::GpuCode code = {"sm_100", "refused\n", "", {}};
  runtime::Status status = assembleGpuCode(ptxas_, code, entries_);
  EXPECT_EQ(status.code(), runtime::StatusCode::inputRejected);
  EXPECT_NE(status.message().find("refused"), std::string::npos);
}

} // namespace
} // namespace mtc::compiler

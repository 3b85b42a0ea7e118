//===- mapped_file_test.cpp - input files in memory -----------------------===//

#include "runtime/base/mapped_file.h"
#include "test/unit/runtime/temporary_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace mtc::runtime;
using namespace mtc::runtime::test;

namespace {

/// Of several pages, whatever a page is here.
constexpr int64_t kBytes = 1 << 18;

class MappedFileTest : public ::testing::Test {
protected:
  void SetUp() override {
    for (int64_t i = 0; i < kBytes; ++i)
      text_ += char('a' + i % 23);
    writeFile(path_, text_);
    ASSERT_TRUE(MappedFile::open(path_, file_).ok());
  }

  Status read(int64_t offset, int64_t bytes) {
    out_.assign(size_t(bytes), '?');
    return file_.read(offset, out_.data(), bytes);
  }

  /// What the read of a file that has `left` bytes now says.
  void expectCut(int64_t offset, int64_t bytes, int64_t left) {
    Status status = read(offset, bytes);
    EXPECT_EQ(status.code(), StatusCode::inputRejected);
    for (const std::string &part :
         {path_, "had " + std::to_string(kBytes),
          "ends at byte " + std::to_string(std::max(offset, left))})
      EXPECT_NE(status.message().find(part), std::string::npos)
          << status.message();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("file"), text_, out_;
  MappedFile file_;
};

TEST_F(MappedFileTest, ReadsAnyPart) {
  EXPECT_EQ(file_.size(), kBytes);
  for (auto [offset, bytes] : {std::pair<int64_t, int64_t>{0, kBytes},
                               {0, 0},
                               {kBytes, 0},
                               {4090, 13},
                               {kBytes - 1, 1}}) {
    ASSERT_TRUE(read(offset, bytes).ok()) << offset;
    EXPECT_EQ(out_, text_.substr(size_t(offset), size_t(bytes)));
  }
  EXPECT_FALSE(read(kBytes - 1, 2).ok());
  EXPECT_FALSE(read(kBytes + 1, 1).ok());
}

TEST_F(MappedFileTest, APageThatIsGoneIsAnError) {
  std::filesystem::resize_file(path_, 1000);
  expectCut(kBytes - 10, 10, 1000);
  expectCut(0, kBytes, 1000);
  // Again: the handler stays, and no signal is left blocked.
  expectCut(kBytes / 2, 1, 1000);
  EXPECT_TRUE(read(10, 90).ok());
  EXPECT_EQ(out_, text_.substr(10, 90));
}

TEST_F(MappedFileTest, TheRestOfAPageIsNoZeros) {
  std::filesystem::resize_file(path_, kBytes - 100);
  expectCut(kBytes - 150, 100, kBytes - 100);
}

TEST_F(MappedFileTest, ThreadsAreCutEachForItself) {
  std::atomic<int> errors{0};
  std::filesystem::resize_file(path_, 100);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      std::vector<char> out(1 << 16);
      for (int64_t at = 1 << 16; at < kBytes; at += 1 << 16)
        errors += !file_.read(at, out.data(), 1 << 16).ok();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(errors, 4 * 3);
}

TEST_F(MappedFileTest, AFileWithoutBytesIsOne) {
  writeFile(folder_.path("empty"), "");
  MappedFile file;
  ASSERT_TRUE(MappedFile::open(folder_.path("empty"), file).ok());
  char byte;
  EXPECT_TRUE(file.read(0, &byte, 0).ok());
  EXPECT_FALSE(file.read(0, &byte, 1).ok());
  EXPECT_FALSE(MappedFile::open(folder_.path("none"), file).ok());
}

/// A fault that is no copy's, of a page that is gone, and a signal that
/// somebody sends.
TEST_F(MappedFileTest, FaultsOfOthersEndTheProcess) {
  void *at = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED,
                  fileno(fopen(path_.c_str(), "r")), 0);
  std::filesystem::resize_file(path_, 0);
  EXPECT_EXIT((void)*static_cast<volatile char *>(at),
              ::testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(raise(SIGBUS), ::testing::KilledBySignal(SIGBUS), "");
  munmap(at, kBytes);
}

/// In a process of its own, which has no handler of ours yet.
TEST(MappedFile, AHandlerThatWasThereIsCalled) {
  auto child = [] {
    struct sigaction action = {};
    action.sa_handler = [](int) { _exit(5); };
    sigaction(SIGBUS, &action, nullptr);
    TemporaryFolder folder;
    writeFile(folder.path("file"), "text");
    MappedFile file;
    if (!MappedFile::open(folder.path("file"), file).ok())
      _exit(6);
    sigaction(SIGBUS, nullptr, &action);
    if (!(action.sa_flags & SA_SIGINFO))
      _exit(7); // ours is not there
    raise(SIGBUS);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(child(), ::testing::ExitedWithCode(5), "");
}

} // namespace

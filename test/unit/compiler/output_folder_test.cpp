//===- output_folder_test.cpp - what killed compilations leave ------------===//

#include "compiler/output_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <unistd.h>

namespace fs = std::filesystem;
using mtc::compiler::OutputFolder;

namespace {

class OutputFolderTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "mtc-folder-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    root = pattern;
  }
  void TearDown() override { fs::remove_all(root); }

  /// A folder as one that was killed leaves it, an hour ago.
  fs::path leave(const std::string &name, const std::string &file,
                 bool marked = true) {
    fs::path folder = root / name;
    fs::create_directories(folder / "programs");
    std::ofstream(folder / file) << "half";
    if (marked)
      std::ofstream(folder / "mtc-unfinished");
    fs::last_write_time(folder, fs::file_time_type::clock::now() -
                                    std::chrono::hours(1));
    return folder;
  }
  fs::path root;
};

TEST_F(OutputFolderTest, RemovesWhatAKilledCompilationLeft) {
  fs::path old = leave("out.tmp-aB3xYz", "report.txt");
  OutputFolder folder;
  ASSERT_TRUE(folder.create(root / "out").ok());
  EXPECT_FALSE(fs::exists(old));
}

TEST_F(OutputFolderTest, LeavesAllElseAlone) {
  fs::path foreign = leave("out.tmp-aB3xYz", "thesis.txt");
  fs::path other = leave("other.tmp-aB3xYz", "report.txt");
  fs::path backup = leave("out.tmp-backup", "report.txt", /*marked=*/false);
  fs::path longer = leave("out.tmp-backups", "report.txt");
  fs::path locked = leave("out.tmp-locked", "report.txt");
  fs::path young = leave("out.tmp-yyyyyy", "report.txt");
  fs::last_write_time(young, fs::file_time_type::clock::now());
  fs::path link = root / "out.tmp-llllll";
  fs::create_directory_symlink(other, link);
  int lock = open(locked.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  OutputFolder folder;
  ASSERT_TRUE(folder.create(root / "out").ok());
  for (const fs::path &path :
       {foreign, other, backup, longer, locked, young, link})
    EXPECT_TRUE(fs::exists(path)) << path;
  close(lock);
}

TEST_F(OutputFolderTest, LosesItsMarkWhenItIsWhole) {
  OutputFolder folder;
  ASSERT_TRUE(folder.create(root / "out").ok());
  EXPECT_TRUE(fs::exists(fs::path(folder.folder()) / "mtc-unfinished"));
  ASSERT_TRUE(folder.commit().ok());
  EXPECT_TRUE(fs::is_empty(root / "out"));
}

TEST_F(OutputFolderTest, IsLockedWhileItIsWritten) {
  OutputFolder first, second;
  ASSERT_TRUE(first.create(root / "out").ok());
  fs::last_write_time(first.folder(),
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  ASSERT_TRUE(second.create(root / "out").ok());
  EXPECT_TRUE(fs::exists(first.folder()));
}

} // namespace

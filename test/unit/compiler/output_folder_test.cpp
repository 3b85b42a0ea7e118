//===- output_folder_test.cpp - bundles that take their place ------------===//

#include "compiler/output_folder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fs = std::filesystem;
using mtc::compiler::Exchange;
using mtc::compiler::exchangeNames;
using mtc::compiler::OutputFolder;
using mtc::compiler::WholeFile;
using mtc::runtime::NameSync;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

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
  /// Some files of a bundle, all with the same text.
  static void fill(const fs::path &folder, const std::string &text) {
    fs::create_directories(folder / "programs");
    std::ofstream(folder / "programs" / "stage0") << text;
    std::ofstream(folder / "report.txt") << text;
  }
  static bool holds(const fs::path &folder, const std::string &text) {
    return contentOf(folder / "programs" / "stage0") == text &&
           contentOf(folder / "report.txt") == text;
  }
  static std::string contentOf(const fs::path &file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Replaces the bundle "out" by a new one.
  Status replace(Exchange exchange) {
    OutputFolder folder(exchange);
    if (Status status = folder.create(root / "out"); !status.ok())
      return status;
    fill(folder.folder(), "new");
    return folder.commit();
  }
  std::vector<fs::path> others() const {
    std::vector<fs::path> found;
    for (const auto &entry : fs::directory_iterator(root))
      if (entry.path() != root / "out")
        found.push_back(entry.path());
    return found;
  }
  void letAnHourPass() const {
    for (const fs::path &path : others())
      fs::last_write_time(path, fs::file_time_type::clock::now() -
                                    std::chrono::hours(1));
  }
  fs::path root;
};

using Case = std::pair<Exchange, std::string>;

int failWith(int error) {
  errno = error;
  return -1;
}
int isBusy(const char *, const char *) { return failWith(EBUSY); }
int isUnknown(const char *, const char *) { return failWith(EINVAL); }
/// A file system without an exchange, and with a new folder that cannot move.
int isUnknownAndLost(const char *one, const char *) {
  fs::remove_all(one);
  return failWith(ENOSYS);
}
int dieBefore(const char *, const char *) { _exit(9); }
int dieBehind(const char *one, const char *other) {
  _exit(exchangeNames(one, other) == 0 ? 9 : 1);
}

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

TEST_F(OutputFolderTest, ReplacesAnEarlierBundle) {
  for (Exchange exchange : {exchangeNames, isUnknown}) {
    fill(root / "out", "old");
    std::ofstream(root / "out" / "explain.json") << "old";
    Status status = replace(exchange);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(holds(root / "out", "new"));
    EXPECT_FALSE(fs::exists(root / "out" / "explain.json"));
    EXPECT_FALSE(fs::exists(root / "out" / "mtc-unfinished"));
    EXPECT_EQ(others(), std::vector<fs::path>{});
  }
}

TEST_F(OutputFolderTest, KeepsTheEarlierBundleWhereNoneCanReplaceIt) {
  for (auto [exchange, why] :
       {Case{isBusy, "Device or resource busy"},
        Case{isUnknownAndLost, "No such file or directory"}}) {
    fill(root / "out", "old");
    Status status = replace(exchange);
    EXPECT_EQ(status.code(), StatusCode::writeFailed);
    for (const std::string &part :
         {(root / "out").string(), why, std::string("choose another name")})
      EXPECT_NE(status.message().find(part), std::string::npos)
          << status.message();
    EXPECT_TRUE(holds(root / "out", "old"));
    EXPECT_FALSE(fs::exists(root / "out" / "mtc-unfinished"));
    EXPECT_EQ(others(), std::vector<fs::path>{});
  }
}

TEST_F(OutputFolderTest, ALinkStaysAndTheFolderBehindItIsReplaced) {
  fill(root / "disk" / "bundle", "old");
  fs::create_symlink("disk/bundle", root / "out");
  fs::create_symlink("disk/none", root / "new");
  for (const char *name : {"out", "new"}) {
    OutputFolder folder;
    ASSERT_TRUE(folder.create(root / name).ok());
    fill(folder.folder(), "new");
    ASSERT_TRUE(folder.commit().ok());
    EXPECT_TRUE(fs::is_symlink(root / name));
    EXPECT_TRUE(holds(root / name, "new"));
  }
  EXPECT_TRUE(holds(root / "disk" / "bundle", "new"));
  EXPECT_TRUE(holds(root / "disk" / "none", "new"));
}

/// What a link says of a folder above is said of the folder behind links.
TEST_F(OutputFolderTest, ALinkBehindALinkIsFollowedFromWhereItLies) {
  fs::create_directories(root / "data" / "runs");
  fs::create_directories(root / "here");
  fs::create_symlink("../data/runs", root / "here" / "a");
  fs::create_symlink("../big", root / "data" / "runs" / "out");
  OutputFolder folder;
  ASSERT_TRUE(folder.create(root / "here" / "a" / "out").ok());
  fill(folder.folder(), "new");
  ASSERT_TRUE(folder.commit().ok());
  EXPECT_TRUE(holds(root / "data" / "big", "new"));
  EXPECT_FALSE(fs::exists(root / "here" / "big"));
}

TEST_F(OutputFolderTest, AMountPointIsRejectedBeforeAnything) {
  OutputFolder folder;
  Status status = folder.create("/proc/");
  EXPECT_EQ(status.code(), StatusCode::usage);
  EXPECT_NE(status.message().find("a mount point"), std::string::npos)
      << status.message();
}

TEST_F(OutputFolderTest, AKilledCommitLeavesAWholeBundle) {
  for (auto [die, text] : {Case{dieBefore, "old"}, Case{dieBehind, "new"}}) {
    fill(root / "out", "old");
    EXPECT_EXIT(static_cast<void>(replace(die)), testing::ExitedWithCode(9),
                "");
    EXPECT_TRUE(holds(root / "out", text));
    EXPECT_EQ(others().size(), 1u);
    letAnHourPass();
    Status status = replace(exchangeNames);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(holds(root / "out", "new"));
    EXPECT_FALSE(fs::exists(root / "out" / "mtc-unfinished"));
    EXPECT_EQ(others(), std::vector<fs::path>{});
  }
}

TEST_F(OutputFolderTest, IsLockedWhileItIsWritten) {
  OutputFolder first, second;
  ASSERT_TRUE(first.create(root / "out").ok());
  fs::last_write_time(first.folder(),
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  ASSERT_TRUE(second.create(root / "out").ok());
  EXPECT_TRUE(fs::exists(first.folder()));
}

TEST_F(OutputFolderTest, AWholeFileTouchesNothingBeforeItIsWhole) {
  // What a name that can be foreseen would have been lost to.
  fs::path victim = root / "victim";
  std::ofstream(victim) << "mine";
  std::string predictable =
      (root / "file").string() + ".tmp-" + std::to_string(getpid());
  fs::create_symlink(victim, predictable);
  fs::create_symlink("file", root / "link");
  WholeFile file(root / "link", NameSync::here);
  ASSERT_TRUE(file.write("one ").ok());
  EXPECT_FALSE(fs::exists(root / "file"));
  ASSERT_TRUE(file.write("two").ok());
  ASSERT_TRUE(file.commit().ok());
  EXPECT_EQ(contentOf(root / "file"), "one two");
  EXPECT_TRUE(fs::is_symlink(root / "link"));
  EXPECT_EQ(contentOf(victim), "mine");
}

TEST_F(OutputFolderTest, AFileThatFailsLeavesNothing) {
  {
    WholeFile file(root / "file", NameSync::nobody);
    ASSERT_TRUE(file.write("half").ok());
  }
  EXPECT_EQ(others(), std::vector<fs::path>{});
  fs::create_directory(root / "folder");
  Status status = mtc::compiler::writeFile(root / "folder", "text");
  EXPECT_EQ(status.code(), StatusCode::writeFailed);
  EXPECT_NE(status.message().find("found a folder"), std::string::npos)
      << status.message();
}

TEST_F(OutputFolderTest, ADeviceIsWrittenInPlace) {
  fs::path pipe = root / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(mtc::compiler::writeFile(pipe, "text").ok());
  char text[5] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 4);
  close(reader);
  EXPECT_STREQ(text, "text");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_NE(mtc::compiler::writeFile("/dev/full", "text")
                .message()
                .find("cannot write '/dev/full': No space left on device"),
            std::string::npos);
}

} // namespace

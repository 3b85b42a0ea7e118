//===- log_file_test.cpp - who may write a log ----------------------------===//

#include "temporary_folder.h"

#include "runtime/base/file.h"
#include "runtime/control/log_file.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace mtc::runtime::test {
namespace {

/// Locks are of a process: another one has to ask.
bool isFreeToOthers(const std::string &path) {
  pid_t child = fork();
  if (child == 0)
    _exit(FileLock::checkFree(path, path).ok() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(LogFile, IsHeldWhenARunStartsAgain) {
  TemporaryFolder folder;
  std::string path = folder.path("log.jsonl"), text;
  {
    LogFile log;
    ASSERT_TRUE(log.open(path, false, [](auto &) { return false; }).ok());
    ASSERT_TRUE(writeAll(log.fd(), "{\"step\": 1}\n{\"step\": 2}\n{\"st"));
    EXPECT_FALSE(isFreeToOthers(path));
    ASSERT_TRUE(log.cutBehind(1).ok());
    EXPECT_FALSE(isFreeToOthers(path));
    ASSERT_TRUE(writeAll(log.fd(), "{\"step\": 2, \"again\": 1}\n"));
  }
  EXPECT_TRUE(isFreeToOthers(path));
  ASSERT_TRUE(readWholeFile(path, text).ok());
  EXPECT_EQ(text, "{\"step\": 1}\n{\"step\": 2, \"again\": 1}\n");
}

} // namespace
} // namespace mtc::runtime::test

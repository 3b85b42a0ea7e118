//===- ptxas.cpp - registers of kernels, by NVIDIA's assembler ------------===//

#include "runtime/base/ptxas.h"

#include "runtime/base/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace mtc::runtime {
namespace {

/// A file without a name, in memory.
class Scratch {
public:
  Scratch() : fd_(memfd_create("mtc", MFD_CLOEXEC)) {}
  ~Scratch() {
    if (fd_ >= 0)
      close(fd_);
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  int fd() const { return fd_; }
  bool fill(std::string_view text) {
    return fd_ >= 0 && writeAll(fd_, text) && lseek(fd_, 0, SEEK_SET) == 0;
  }
  std::string text() const {
    struct stat info {};
    if (fd_ < 0 || fstat(fd_, &info) != 0)
      return "";
    std::string all(static_cast<size_t>(info.st_size), '\0');
    int64_t got = readAt(fd_, 0, all.data(), info.st_size);
    all.resize(static_cast<size_t>(std::max<int64_t>(got, 0)));
    return all;
  }

private:
  int fd_;
};

/// What a program has as the file /dev/fd/3.
constexpr int kResult = 3;

/// Runs a command to its end, with `in` to read, `said` for all that it prints
/// and `made` for its result. Its exit status; -1 with errno: it did not start.
int runProgram(const char *const *words, const Scratch &in, const Scratch &said,
               const Scratch &made) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in.fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, said.fd(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, said.fd(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&files, made.fd(), kResult);
  pid_t child = 0;
  int failed = posix_spawn(&child, words[0], &files, nullptr,
                           const_cast<char *const *>(words), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    errno = failed;
    return -1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// Of what a program says, in print.
std::string firstLine(const std::string &text) {
  std::string line = text.substr(0, std::min<size_t>(text.find('\n'), 500));
  std::erase_if(line, [](unsigned char c) { return c < ' ' || c == 127; });
  return line;
}

bool isProgram(const std::string &path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

/// The number in front of `unit`: 24 in "Used 24 registers, ..."; 0: none.
int64_t numberBefore(std::string_view line, std::string_view unit) {
  size_t end = line.find(unit);
  if (end == std::string_view::npos)
    return 0;
  size_t begin = line.find_last_not_of("0123456789", end - 1);
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  int64_t number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

} // namespace

std::string findPtxas() {
  const char *path = std::getenv("PATH"), *home = std::getenv("CUDA_HOME");
  std::istringstream folders(fmt::format(
      "{}:{}/bin", path ? path : "", home && *home ? home : "/usr/local/cuda"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::string found = folder + "/ptxas";
        !folder.empty() && isProgram(found))
      return found;
  return "";
}

std::map<std::string, AssembledEntry> readPtxasReport(std::string_view text) {
  constexpr std::string_view kEntry = "Compiling entry function '";
  std::map<std::string, AssembledEntry> entries;
  AssembledEntry *entry = nullptr;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (size_t at = line.find(kEntry); at != std::string::npos) {
      size_t begin = at + kEntry.size();
      entry = &entries[line.substr(begin, line.find('\'', begin) - begin)];
    } else if (entry && line.find("spill stores") != std::string::npos) {
      entry->stackBytes = numberBefore(line, " bytes stack frame");
      entry->spillBytes = numberBefore(line, " bytes spill stores") +
                          numberBefore(line, " bytes spill loads");
    } else if (entry && line.find("Used ") != std::string::npos) {
      entry->registers = static_cast<int>(numberBefore(line, " registers"));
      entry->sharedBytes = numberBefore(line, " bytes smem");
      entry = nullptr;
    }
  }
  return entries;
}

Status assemble(const std::string &ptxas, const std::string &ptx,
                const std::string &chip, Assembly &out) {
  Scratch in, said, made;
  if (!in.fill(ptx) || said.fd() < 0 || made.fd() < 0)
    return {
        StatusCode::internal,
        fmt::format("cannot make a file in memory: {}", std::strerror(errno))};
  const std::string arch = "-arch=" + chip;
  const std::string result = fmt::format("/dev/fd/{}", kResult);
  const char *words[] = {ptxas.c_str(), "-v",           arch.c_str(), "-",
                         "-o",          result.c_str(), nullptr};
  int code = runProgram(words, in, said, made);
  if (code != 0)
    return {
        StatusCode::inputRejected,
        fmt::format("{}: {}", ptxas,
                    code < 0 ? std::strerror(errno) : firstLine(said.text()))};
  out = {made.text(), readPtxasReport(said.text())};
  if (out.cubin.empty())
    return {StatusCode::inputRejected,
            fmt::format("{}: expected a cubin, found nothing", ptxas)};
  return Status::okay();
}

} // namespace mtc::runtime

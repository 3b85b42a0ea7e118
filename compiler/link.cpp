//===- link.cpp - objects to executables and shared objects ---------------===//

#include "compiler/link.h"

#include "compiler/install.h"
#include "compiler/interrupt.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

Status findDriver(std::string &path) {
  const char *chosen = std::getenv("CXX");
  for (std::string name : {std::string(chosen ? chosen : ""),
                           std::string("c++"), std::string("cc")}) {
    if (name.empty())
      continue;
    if (auto found = llvm::sys::findProgramByName(name)) {
      path = *found;
      return Status::okay();
    }
  }
  return {
      StatusCode::failed,
      "expected the program 'c++' on PATH to link with, found none; install "
      "a C++ compiler or set CXX"};
}

Status readArguments(Toolchain &toolchain) {
  std::string path = toolchain.libraries + "/mtc-link.txt";
  std::ifstream file(path);
  if (!file)
    return {StatusCode::failed,
            fmt::format("expected the runtime's libraries beside mtc, found no "
                        "'{}'; build or install mtc as a whole",
                        path)};
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#')
      toolchain.arguments.push_back(line);
  return Status::okay();
}

std::string contentOf(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// Starts a program and waits for it: its exit code, negative without one.
int runChild(const std::string &program,
             const std::vector<llvm::StringRef> &argv, llvm::StringRef log,
             std::string &problem) {
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), log, log};
  llvm::sys::ProcessInfo child = llvm::sys::ExecuteNoWait(
      program, argv, std::nullopt, redirects, 0, &problem);
  if (child.Pid <= 0)
    return -1;
  InterruptedChild onInterrupt(child.Pid);
  return llvm::sys::Wait(child, std::nullopt, &problem).ReturnCode;
}

/// Runs a program with its output kept for the message.
Status execute(const std::string &program,
               const std::vector<std::string> &arguments) {
  llvm::SmallString<128> log;
  if (llvm::sys::fs::createTemporaryFile("mtc-link", "log", log))
    return {StatusCode::writeFailed, "cannot create a temporary file"};
  TemporaryPath onInterrupt(log.str().str());
  std::vector<llvm::StringRef> argv = {program};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::string problem;
  int code = runChild(program, argv, log, problem);
  if (code == -2) // a signal
    awaitInterrupt();
  std::string output = contentOf(log);
  llvm::sys::fs::remove(log);
  if (code == 0)
    return Status::okay();
  return {StatusCode::failed,
          fmt::format("linking failed: '{}' ended with {}{}\n{}", program, code,
                      problem.empty() ? "" : " (" + problem + ")", output)};
}

/// What a file of `bytes` beside `path` fails with, 0 if there is room for it.
/// Linkers have many words for a full disk, so it is tried.
int roomError(const std::string &path, int64_t bytes) {
  std::string name = path + ".room";
  int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0)
    return errno;
  int error = posix_fallocate(fd, 0, bytes);
  close(fd);
  unlink(name.c_str());
  return error;
}

/// Runs the linker; a full disk is told as such.
Status link(const Toolchain &toolchain,
            const std::vector<std::string> &arguments,
            const std::string &output) {
  Status status = execute(toolchain.driver, arguments);
  if (status.ok())
    return status;
  // More than any program here has, and less than any disk in use has free.
  constexpr int64_t enough = 16 << 20;
  if (int error = roomError(output, enough))
    return {StatusCode::writeFailed,
            fmt::format("cannot write '{}': {}; while linking:\n{}", output,
                        std::strerror(error), status.message())};
  return status;
}

std::vector<std::string> common(const Toolchain &toolchain,
                                const std::vector<std::string> &objects,
                                const std::string &output) {
  std::vector<std::string> arguments = toolchain.linker;
  // Nothing of the place or time of linking enters the file.
  arguments.insert(arguments.end(), {"-Wl,--build-id=none", "-o", output});
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  return arguments;
}

} // namespace

Status findToolchain(Toolchain &toolchain) {
  MTC_RETURN_IF_ERROR(findDriver(toolchain.driver));
  if (llvm::sys::findProgramByName("mold"))
    toolchain.linker = {"-fuse-ld=mold"};
  else if (llvm::sys::findProgramByName("ld.lld"))
    toolchain.linker = {"-fuse-ld=lld"};
  toolchain.libraries = installFolder() + "/lib";
  return readArguments(toolchain);
}

Status linkExecutable(const Toolchain &toolchain,
                      const std::vector<std::string> &objects,
                      const std::string &output) {
  std::vector<std::string> arguments = common(toolchain, objects, output);
  arguments.push_back("-L" + toolchain.libraries);
  arguments.insert(arguments.end(), toolchain.arguments.begin(),
                   toolchain.arguments.end());
  return link(toolchain, arguments, output);
}

Status linkShared(const Toolchain &toolchain,
                  const std::vector<std::string> &objects,
                  const std::string &output) {
  std::vector<std::string> arguments = common(toolchain, objects, output);
  arguments.push_back("-shared");
  arguments.push_back("-lm");
  return link(toolchain, arguments, output);
}

} // namespace mtc::compiler

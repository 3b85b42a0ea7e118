//===- secret.cpp - by which the ranks of a job know each other -----------===//

#include "runtime/rendezvous/secret.h"

#include "runtime/base/file.h"
#include "runtime/rendezvous/hello.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

constexpr size_t kMostSecretBytes = 4096;

Status readSecret(const std::string &path, std::string &out) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat file = {};
  if (fd < 0 || fstat(fd, &file) != 0) {
    int error = errno;
    if (fd >= 0)
      close(fd);
    return {StatusCode::usage, fmt::format("cannot read the job's secret '{}': "
                                           "{}",
                                           path, std::strerror(error))};
  }
  char text[kMostSecretBytes];
  ssize_t n = S_ISREG(file.st_mode) ? read(fd, text, sizeof text) : 0;
  close(fd);
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  if (file.st_mode & kOthers)
    return {
        StatusCode::usage,
        fmt::format("the job's secret '{}' has mode {:o}: expected 0600, so "
                    "that nobody else reads it (chmod 600)",
                    path, file.st_mode & 07777)};
  out.assign(text, size_t(n > 0 ? n : 0));
  while (!out.empty() && (out.back() == '\n' || out.back() == '\r'))
    out.pop_back();
  if (!out.empty())
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("the job's secret '{}' is empty: expected a file with up "
                      "to {} bytes of it",
                      path, kMostSecretBytes)};
}

/// Whole under its name, or not there: ranks may do this at the same time.
Status makeSecretFile(const std::string &path) {
  std::string text;
  MTC_RETURN_IF_ERROR(makeSecret(text));
  std::string temporary = path + ".XXXXXX";
  int fd = mkstemp(temporary.data()); // of mode 0600
  bool written = fd >= 0 && writeAll(fd, text + "\n") && fsync(fd) == 0;
  int error = errno;
  if (fd >= 0)
    close(fd);
  // Unlike rename this keeps the one that another rank has made.
  if (written && link(temporary.c_str(), path.c_str()) != 0 &&
      errno != EEXIST) {
    error = errno;
    written = false;
  }
  if (fd >= 0)
    unlink(temporary.c_str());
  if (written)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("cannot make the job's secret '{}': {}; give all ranks "
                      "one in {} or {}",
                      path, std::strerror(error), kSecretVariable,
                      kSecretFileVariable)};
}

} // namespace

Status makeSecret(std::string &out) {
  out.clear();
  for (int i = 0; i < 2; ++i) {
    std::string random;
    MTC_RETURN_IF_ERROR(makeNonce(random));
    for (unsigned char byte : random)
      out += fmt::format("{:02x}", byte);
  }
  return Status::okay();
}

Status findSecret(std::string &out) {
  if (const char *given = std::getenv(kSecretVariable); given && *given) {
    out = given;
    return Status::okay();
  }
  if (const char *file = std::getenv(kSecretFileVariable); file && *file)
    return readSecret(file, out);
  const char *home = std::getenv("HOME");
  if (!home || !*home)
    return {StatusCode::usage,
            fmt::format("expected the job's secret in {} or {}, found neither, "
                        "nor a home folder to keep one in",
                        kSecretVariable, kSecretFileVariable)};
  std::string folder = std::string(home) + "/.mtc";
  std::string path = folder + "/job-secret";
  mkdir(folder.c_str(), 0700); // what is wrong with it, the next call says
  if (access(path.c_str(), F_OK) != 0)
    MTC_RETURN_IF_ERROR(makeSecretFile(path));
  return readSecret(path, out);
}

} // namespace mtc::runtime

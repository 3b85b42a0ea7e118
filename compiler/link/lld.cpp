//===- lld.cpp - LLD as a library -----------------------------------------===//

#include "compiler/link/lld.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

LLD_HAS_DRIVER(elf)

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

/// LLD ends itself where it cannot go on. Here that ends the link, not mtc.
struct CrashRecovery {
  CrashRecovery() { llvm::CrashRecoveryContext::Enable(); }
  ~CrashRecovery() { llvm::CrashRecoveryContext::Disable(); }
};

/// What is written to a pipe, which LLD does not map.
class Capture {
public:
  Capture() = default;
  Capture(const Capture &) = delete;
  Capture &operator=(const Capture &) = delete;
  /// Where an error unwinds this, such as no more threads for LLD.
  ~Capture() {
    if (reader_.joinable())
      finish();
  }
  Status open() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
      return {StatusCode::failed,
              fmt::format("cannot make a pipe to link: {}; check `ulimit -n`",
                          std::strerror(errno))};
    reader_ = std::thread([this] { read(); });
    return Status::okay();
  }
  /// The writing end, for as long as this captures.
  std::string path() const { return fmt::format("/proc/self/fd/{}", ends_[1]); }
  std::string finish() {
    close(ends_[1]);
    reader_.join();
    close(ends_[0]);
    return std::move(bytes_);
  }

private:
  void read() {
    char part[1 << 16];
    for (;;) {
      ssize_t count = ::read(ends_[0], part, sizeof part);
      if (count > 0)
        bytes_.append(part, static_cast<size_t>(count));
      else if (count == 0 || errno != EINTR)
        return;
    }
  }

  int ends_[2] = {-1, -1};
  std::string bytes_;
  std::thread reader_;
};

Status linkTo(const std::string &output,
              const std::vector<std::string> &arguments, bool &usable) {
  std::vector<const char *> argv = {"ld.lld", "-o", output.c_str()};
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  std::string said;
  llvm::raw_string_ostream stream(said);
  CrashRecovery recovery;
  lld::Result result =
      lld::lldMain(argv, stream, stream, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode == 0 && usable)
    return Status::okay();
  return {StatusCode::failed,
          fmt::format("linking failed: LLD ended with {}\n{}", result.retCode,
                      said)};
}

} // namespace

Status runLld(const std::vector<std::string> &arguments, std::string &bytes) {
  // LLD keeps what it works on in globals, and after some failures, says its
  // result, they are no longer usable.
  static std::mutex mutex;
  static bool usable = true;
  std::lock_guard lock(mutex);
  if (!usable)
    return {StatusCode::failed, "linking failed: an earlier link ended LLD"};
  Capture capture;
  MTC_RETURN_IF_ERROR(capture.open());
  Status status = linkTo(capture.path(), arguments, usable);
  bytes = capture.finish();
  return status;
}

} // namespace mtc::compiler

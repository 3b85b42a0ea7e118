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

/// What is written to a pipe, which LLD does not map, goes on to a file.
class Passage {
public:
  explicit Passage(WholeFile &file) : file_(file) {}
  Passage(const Passage &) = delete;
  Passage &operator=(const Passage &) = delete;
  /// Where an error unwinds this, such as no more threads for LLD.
  ~Passage() {
    if (reader_.joinable())
      static_cast<void>(finish()); // the error that unwinds is told
  }
  Status open() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
      return {StatusCode::failed,
              fmt::format("cannot make a pipe to link: {}; check `ulimit -n`",
                          std::strerror(errno))};
    // Where that is too much for a person's pipes, it stays as it was.
    fcntl(ends_[0], F_SETPIPE_SZ, static_cast<int>(sizeof part_));
    reader_ = std::thread([this] { read(); });
    return Status::okay();
  }
  /// The writing end, for as long as this is open.
  std::string path() const { return fmt::format("/proc/self/fd/{}", ends_[1]); }
  /// Whether all came to the file.
  Status finish() {
    close(ends_[1]);
    reader_.join();
    close(ends_[0]);
    return written_;
  }

private:
  /// To the end in any case: LLD writes all that it has.
  void read() {
    for (;;) {
      ssize_t count = ::read(ends_[0], part_, sizeof part_);
      if (count > 0)
        written_ = file_.write({part_, static_cast<size_t>(count)});
      else if (count == 0 || errno != EINTR)
        return;
    }
  }

  WholeFile &file_;
  int ends_[2] = {-1, -1};
  char part_[1 << 18];
  Status written_;
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

Status runLld(const std::vector<std::string> &arguments, WholeFile &file) {
  // LLD keeps what it works on in globals, and after some failures, says its
  // result, they are no longer usable.
  static std::mutex mutex;
  static bool usable = true;
  std::lock_guard lock(mutex);
  if (!usable)
    return {StatusCode::failed, "linking failed: an earlier link ended LLD"};
  Passage passage(file);
  MTC_RETURN_IF_ERROR(passage.open());
  Status status = linkTo(passage.path(), arguments, usable);
  Status written = passage.finish();
  return status.ok() ? written : status;
}

} // namespace mtc::compiler

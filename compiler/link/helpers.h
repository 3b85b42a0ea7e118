//===- helpers.h - processes that link --------------------------*- C++ -*-===//
//
// LLD keeps what it works on in globals and sets options of LLVM back, so a
// process makes no code while it links, and links one program at a time.
// Helpers are copies of this process that do nothing but link.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_LINK_HELPERS_H
#define MTC_COMPILER_LINK_HELPERS_H

#include "compiler/interrupt.h"
#include "compiler/link/link.h"
#include "runtime/base/status.h"

#include <list>
#include <string>
#include <vector>

namespace mtc::compiler {

class LinkHelpers {
public:
  /// Makes `count` of them, or as many as the system has room for. To be made
  /// while this process has one thread: a copy has no other, and what these had
  /// locked would stay locked in it.
  explicit LinkHelpers(size_t count);
  /// Waits until they have ended. They end as well when this process does,
  /// however that happens; signals that interrupt are for this process.
  ~LinkHelpers();
  LinkHelpers(const LinkHelpers &) = delete;
  LinkHelpers &operator=(const LinkHelpers &) = delete;

  size_t size() const { return helpers_.size(); }

  /// `linkProgram` in one of them, numbered from 0, with the toolchain that it
  /// finds; waits for it. Of several threads each needs a helper of its own.
  /// Errors: those of findToolchain and linkProgram; failed if the helper
  /// ended, with an empty message if it has said why on standard error.
  runtime::Status link(size_t helper, const LinkJob &job);

  /// Its process; for tests.
  int process(size_t helper) const { return helpers_[helper].process; }

private:
  struct Helper {
    int process;
    int channel; ///< our end of a socket
  };

  bool start();

  std::vector<Helper> helpers_;
  std::list<EndsWithUs> killed_; ///< on an interrupt
};

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINK_HELPERS_H

//===- program.h - the tables of a compiled program -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_PROGRAM_PROGRAM_H
#define MTC_RUNTIME_PROGRAM_PROGRAM_H

#include "mtc/runtime/abi.h"
#include "runtime/program/descriptor.h"

#include <functional>
#include <memory>
#include <string>

namespace mtc::runtime {

/// Where the tables of a program lie: in this executable or in a shared object.
/// They are constant and live as long as `keepAlive`.
struct Program {
  const char *descriptor = nullptr;
  const MtcFragment *fragments = nullptr;
  const MtcTransfer *transfers = nullptr;   ///< may be null when there are none
  const int32_t *slots = nullptr;           ///< may be null when there are none
  const MtcDeviceFactory *device = nullptr; ///< null: the host's
  /// The table mtc_timeline_<entry>, or nullptr.
  std::function<const MtcStep *(const std::string &entry)> timeline;
  /// What mtc_NAME is in the program, or nullptr: PTX of GPUs, "ptx_sm_90".
  std::function<const char *(const std::string &name)> code;
  std::shared_ptr<void> keepAlive;
};

/// Opens a program's shared object. Its undefined mtc_ functions are resolved
/// from the executable that calls this, which must export them (link
/// mtc_control). Errors: inputRejected.
Status openSharedProgram(const std::string &path, Program &out);

/// Checks every row of every table against the descriptor: kinds, fragments,
/// microbatches, slots, and that inputs and transfers stay inside their arenas.
/// After this the loop over a timeline needs no checks. Errors: inputRejected
/// with all problems.
Status checkProgram(const Program &program, const Descriptor &descriptor);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_PROGRAM_H

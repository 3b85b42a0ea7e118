//===- host_issue.h - what the host does to issue a step --------*- C++ -*-===//
#ifndef MTC_RUNTIME_PROGRAM_HOST_ISSUE_H
#define MTC_RUNTIME_PROGRAM_HOST_ISSUE_H

#include <cstdint>

namespace mtc::runtime {

/// The host's part of one step that a device keeps, in the order in which it is
/// done, in nanoseconds: until all is issued, without any wait for what the
/// device then does.
struct HostIssue {
  int64_t block = 0;   ///< the order of the step is filled
  int64_t tokens = 0;  ///< taken from the loader and sent, with the order
  int64_t works = 0;   ///< of the device, launched: its graphs
  int64_t results = 0; ///< step block sent for, with the loss

  int64_t worksIssued = 0; ///< how many; 0: rows were issued one by one
  int64_t copies = 0;      ///< between host and device

  int64_t all() const { return block + tokens + works + results; }
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_HOST_ISSUE_H

//===- check_data.h - the tokens of a run, before it starts -----*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_CHECK_DATA_H
#define MTC_RUNTIME_CONTROL_CHECK_DATA_H

#include "runtime/control/bundle.h"
#include "runtime/train/job.h"

#include <atomic>

namespace mtc::runtime {

/// Reads all tokens that the run is going to read, before any rank starts, and
/// tells how far it is on the job's progress descriptor when that takes longer
/// than a second. `stop` ends it early. The job then has the size of the file,
/// which ranks hold it to. Errors: those of TokenFile::open;
/// inputRejected, with the number of tokens that are not in the vocabulary and
/// the first of them; usage, when an evaluation is longer than the file;
/// interrupted.
Status checkData(Job &job, const Bundle &bundle, const std::atomic<bool> &stop);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_CHECK_DATA_H

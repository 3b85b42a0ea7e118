//===- check_data.h - the data of a run, before it starts -------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_CHECK_DATA_H
#define MTC_RUNTIME_CONTROL_CHECK_DATA_H

#include "runtime/control/bundle.h"
#include "runtime/train/job.h"

#include <atomic>

namespace mtc::runtime {

/// Finds the data of a run, builds the indices of corpora that are not there
/// yet, and reads all tokens that the run is going to read, before any rank
/// starts; tells how far it is on the job's progress descriptor when that takes
/// longer than a second. `stop` ends it early. The job then has the sources,
/// which ranks hold files to. Errors: those of prepareSource and of
/// SampleSource::check; usage, when an evaluation is longer than its data, or
/// the order of corpora is drawn for fewer samples than are read; interrupted.
Status checkData(Job &job, const Bundle &bundle, const std::atomic<bool> &stop);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_CHECK_DATA_H

//===- make_job.h - what is asked for, as the job of ranks ------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_MAKE_JOB_H
#define MTC_RUNTIME_CONTROL_MAKE_JOB_H

#include "mtc/runtime/run.h"
#include "runtime/control/bundle.h"
#include "runtime/train/job.h"

namespace mtc::runtime {

/// What `options` ask for, with the defaults of dumps and traces filled in and
/// samples as steps of the bundle's global batch. The recipe is one that
/// checkRecipe takes. Errors: usage: nothing to do, groups that the bundle does
/// not have, dumps or traces of steps that the run does not have.
Status makeJob(const RunOptions &options, const Bundle &bundle, Job &job);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_MAKE_JOB_H

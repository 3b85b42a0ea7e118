//===- run_checkpoints.h - the checkpoints that a run has -------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_RUN_CHECKPOINTS_H
#define MTC_RUNTIME_CONTROL_RUN_CHECKPOINTS_H

#include "mtc/runtime/run.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/control/bundle.h"
#include "runtime/control/file_lock.h"
#include "runtime/train/job.h"

#include <optional>

namespace mtc::runtime {

/// Whether a checkpoint has what a bundle trains, and no more: parameters and
/// optimizer states of the names and shapes. Errors: inputRejected, all at
/// once.
Status checkFits(const Checkpoint &checkpoint, const Bundle &bundle);

/// The folder of a run's checkpoints, this run's alone while it lives.
class RunCheckpoints {
public:
  /// Makes and locks the folder, removes what earlier runs left unfinished, and
  /// chooses the checkpoint that the run goes on from: of its own folder the
  /// newest whole one, else the one that it loads. Says on standard error which
  /// newer ones are damaged, and if it is of a model of another name. The job
  /// then has folder and start; a checkpoint that is loaded stays until
  /// `letGo`. Errors: usage, when the folder has checkpoints and the run is
  /// none that resumes; noneWhole; those of checkFits.
  Status open(const RunOptions &options, const Bundle &bundle, Job &job);

  /// Of a run whose ranks have ended: chooses again, from its own folder. The
  /// job is as it was if that has none. Errors: noneWhole, writeFailed.
  Status renew(Job &job);

  /// All ranks have what they load: other runs may remove it.
  void letGo() { hold_.letGo(); }

  /// Of the checkpoint that the run goes on from; null: it is new.
  const Manifest *loaded() const { return loaded_ ? &*loaded_ : nullptr; }

private:
  Status prepare(const RunOptions &options, int64_t bytes, Job &job);
  Status choose(const RunOptions &options, const CheckpointOrder &order,
                Checkpoint &out);
  FileLock lock_;
  CheckpointHold hold_; ///< of one that another run may remove
  std::optional<Manifest> loaded_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_RUN_CHECKPOINTS_H

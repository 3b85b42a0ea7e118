//===- run.h - runs a compiled bundle ---------------------------*- C++ -*-===//
//
// The public interface of the launcher, library mtc_control. An executable that
// links it exports the functions of abi.h to the programs it opens.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_RUN_H
#define MTC_RUNTIME_RUN_H

#include "mtc/runtime/comm_kind.h"
#include "mtc/runtime/recipe.h"
#include "mtc/runtime/status.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// Tensors to write while running. The file appears in `folder`, whole or not
/// at all, as <what>.safetensors, or <what>@<step>.safetensors when a step was
/// given; tensors carry their logical names and global shapes, fp32.
struct DumpRequest {
  enum What {
    init,   ///< parameters before the first step
    logits, ///< of the first global batch, before the first step: one tensor
            ///< `logits` [global_batch, seq, padded vocab]; needs entry `eval`
    grads,  ///< final gradients of a step, unclipped; default: step 1
    params, ///< parameters after a step; default: the last
  };
  What what = init;
  int64_t step = 0; ///< 0: the default
  std::string folder;
};

/// Parses "init", "logits", "grads", "params", the last two with an optional
/// "@STEP". Errors: usage.
Status parseDump(std::string_view spec, std::string folder, DumpRequest &out);

/// What standard error shows of the steps.
enum class ProgressKind {
  automatic, ///< bar on a terminal, else plain
  plain,     ///< a line every ten seconds
  bar,       ///< one line that is written again
  none
};

/// An option as a person gave it.
struct GivenOption {
  std::string name, value; ///< without the dashes; a flag has no value
};

struct RunOptions {
  std::string bundle; ///< folder with manifest.json
  Recipe recipe;
  /// None: nccl of a bundle for GPUs, else mpi, where a launcher started
  /// several processes, else the first of kComms.
  std::optional<CommKind> comm;
  /// mpi: which rank of how many this process is, and HOST[:PORT] of rank 0,
  /// where the environment does not say it (docs/hosts.md).
  std::optional<int> rank, world;
  std::string master;
  /// How many ranks are expected; 0: as many as the bundle has.
  int64_t ranks = 0;
  /// mpi: the library, a name of kMpiLibraries (runtime/comm/mpi/load.h);
  /// empty: that of the launcher, or MPICH. And the folder of engines.
  std::string mpi, mpiFolder;
  /// mpi: ranks of one host talk over it, too, instead of by shared memory.
  bool mpiInsideHosts = false;
  /// mpi, seconds: how long ranks wait for each other at the start, and for a
  /// sign of life later.
  double meetTimeout = 600, heartbeatTimeout = 10;
  /// The number of the GPU that this process takes; none: that of its number
  /// among the ranks of its host, modulo the GPUs there.
  std::optional<int> device;
  /// Of bundles for GPUs: a file of `mtc tune`; empty: none.
  std::string gemmTable;
  /// GPUs: the rows of a step are launched as graphs, from the second step on.
  bool graphs = true;
  bool strict = false; ///< threads only: detect deadlocks exactly
  /// The process does no more than end behind the run: handlers of signals
  /// stay, so that a late one does not change its exit code.
  bool endsProcess = false;
  std::vector<DumpRequest> dumps;
  std::string initFrom; ///< safetensors file of parameters, by logical name
  /// A folder of checkpoints (base/checkpoint_names.h), which is made if it is
  /// not there; empty: none are written. One is written at every orderly end,
  /// and every so many steps; 0: not. All or the newest `keepCheckpoints` are
  /// kept.
  std::string checkpoints;
  int64_t saveInterval = 0, keepCheckpoints = 0;
  /// They are written beside training, from a copy of what they have in the
  /// host's memory, but for the last one.
  bool asyncSave = false;
  /// Goes on from the newest whole one; a run without any begins anew.
  bool resume = false;
  /// A run that is new begins with this checkpoint: the folder of one, or one
  /// of several, whose newest whole one it is. Empty: with none.
  std::string load;
  /// The run ends behind the next step that `exitInterval` divides, or behind
  /// the one in progress after so many minutes; 0: not. With the codes of a run
  /// that is stopped.
  int64_t exitInterval = 0;
  double exitMinutes = 0;
  std::string saveTo; ///< safetensors file of the parameters after the run
  /// JSON lines, one per step. A file that has something is continued if
  /// `appendLog`, else kept as <name>.1, .2, ...
  std::string logFile;
  bool appendLog = false;
  int64_t logInterval = 1; ///< steps of one line; the last step has one, too
  /// A folder, made if it is not there, that gets one more file of
  /// TensorBoard's events; empty: none.
  std::string tensorboardDir;
  /// Named times of a step in the log, the least, mean and largest over ranks:
  /// 0 none, 1 forward, backward, ..., 2 parts of these.
  int64_t timingLevel = 0;
  /// A line of each step (logInterval) on standard output, as Megatron-LM
  /// prints it.
  bool megatronLines = false;
  /// What a rank could do at most, in 10^12 operations a second, for the share
  /// of it that is used (MFU); 0: nobody knows.
  double peakTflops = 0;
  /// What each rank did when in one step, as Chrome trace events (JSON), which
  /// Perfetto shows. Appears once that step is done, whole or not at all. A
  /// step from 1; 0: the last, or of several the first of this run.
  std::string traceFile;
  int64_t traceStep = 0;
  int64_t traceLast = 0;   ///< the steps up to this one, too; 0: one step
  bool traceToEnd = false; ///< up to the last, in place of traceLast
  /// A folder that is there and gets, of every rank on this host, the file of
  /// its profile, from steps behind `profileWarmUp` of this run to the last;
  /// empty: no profile. Not with a trace or named times. See profileBundle.
  std::string profileFolder;
  int64_t profileWarmUp = 0;
  /// Where `recipe` comes from, if from a file: no output may be that file.
  std::string recipeFile;
  /// > 0: no training; prints the mean loss over this many global batches, as
  /// JSON; null, with the reason, when it is not finite.
  int64_t evalBatches = 0;
  /// Of an evaluation: its tokens, read in order; empty: the recipe's file in
  /// the recipe's order. And the first sample.
  std::string evalData;
  int64_t evalFirst = 0;
  /// shm and mpi, seconds: when no rank begins a step (or a batch of `eval`)
  /// for so long, all are ended (hang). Start and files count, too. 0: never.
  /// None: five times the longest step and at least 600 s, an hour for the
  /// start, the first step, and the last one with the files behind it.
  std::optional<double> timeout;
  /// A folder that gets what each rank did last, when one died, hangs or
  /// disagrees with others (mtc/runtime/flight.h); empty: the folder `flight`
  /// in that of checkpoints, if there is one.
  std::string flight;
  /// shm and mpi, with checkpoints only: how often all ranks are started again,
  /// from the last whole checkpoint, when one died, hangs or disagrees; only if
  /// a checkpoint was written since the last start.
  int64_t maxRestarts = 0;
  ProgressKind progress = ProgressKind::automatic;
  /// The command line, by first names: what of it changes nothing in this run
  /// is told on standard error.
  std::vector<GivenOption> given;
};

/// Runs all ranks of a bundle to their end. Errors have the exit codes of
/// StatusCode; the message says which rank failed first and why. Standard error
/// of ranks is passed on with "[rank N] " before each line. Installs handlers
/// of SIGINT, SIGTERM and SIGHUP while it runs (longer: endsProcess): the first
/// stops all ranks behind the same step (interrupted), the second at once.
/// SIGUSR1 has them write a checkpoint behind the step in progress, and go on.
/// `saveTo` is written at every orderly end: also behind such a stop, when a
/// loss or norm is not finite (the parameters of the step before), and when
/// data cannot be read any more. No output may be an input or another output,
/// or lie in a bundle or a checkpoint (usage). All tokens that the run reads
/// are checked before it starts, and indices of corpora are built that are not
/// there yet.
Status runBundle(const RunOptions &options);

/// Reads a recipe file over `recipe`: keys that are absent keep their value.
/// Errors: usage, naming all unknown keys and wrong values at once.
Status readRecipe(const std::string &path, Recipe &recipe);

/// Checks ranges. Errors: usage, all violations at once.
Status checkRecipe(const Recipe &recipe);

/// The descriptor of a program, executable or shared object, as text for
/// people. The program is not run. Errors: inputRejected.
Status inspectProgram(const std::string &path, std::string &text);

/// The descriptor's JSON text itself.
Status readDescriptorText(const std::string &path, std::string &text);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RUN_H

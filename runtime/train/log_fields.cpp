//===- log_fields.cpp - every key of a log --------------------------------===//

#include "mtc/runtime/log_fields.h"

namespace mtc::runtime {
namespace {

constexpr LogField<RunRecord> kRun[] = {
    {"header", &RunRecord::header,
     "version of this format; no other line has the key", "1"},
    {"time", &RunRecord::time, "when the run began, seconds since 1970 (UTC)",
     "1764030001.25"},
    {"mtc", &RunRecord::mtc, "version of mtc", "\"0.1\""},
    {"abi", &RunRecord::abi, "of programs and runtime", "13"},
    {"onednn", &RunRecord::onednn, "version of oneDNN", "\"2.6.3 (N/A)\""},
    {"libc", &RunRecord::libc, "version of the C library", "\"2.36\""},
    {"host", &RunRecord::host, "name of the machine", "\"node7\""},
    {"model", &RunRecord::model, "name of the model", "\"gpt2-nano\""},
    {"plan", &RunRecord::plan, "digest of the plan, as mtc inspect prints it",
     "\"68af3a8901c9d04d\""},
    {"mesh", &RunRecord::mesh, "ranks along each axis",
     "{\"tp\": 2, \"cp\": 1, \"dp\": 1, \"pp\": 2}"},
    {"ranks", &RunRecord::ranks, "of the mesh", "4"},
    {"comm", &RunRecord::comm, "how ranks communicate", "\"shm\""},
    {"isa", &RunRecord::isa, "instruction set of the programs",
     "\"x86-64-v4\""},
    {"dtype", &RunRecord::dtype, "compute type", "\"f32\""},
    {"global_batch", &RunRecord::globalBatch,
     "samples of a step; of a ramp, those of its end", "16"},
    {"seed", &RunRecord::seed, "of the recipe", "1234"},
    {"recipe", &RunRecord::recipe,
     "all keys of the [recipe](recipe.md), as the run has them",
     "{\"steps\": 3, \"lr\": 0.0003}"},
    {"start_step", &RunRecord::startStep,
     "the step of the checkpoint that the run goes on from; 0: it is new", "0"},
    {"memory_bytes", &RunRecord::memoryBytes,
     "planned memory of the rank that needs most, all arenas", "2400256"},
    {"flops_per_token", &RunRecord::flopsPerToken,
     "floating-point operations of the model by tokens of a sample, counted as "
     "flops_rule says; left out if the bundle does not say",
     "{\"32\": 1376256}"},
    {"flops_rule", &RunRecord::flopsRule, "how they are counted",
     "\"forward x 3\""},
    {"peak_tflops", &RunRecord::peak,
     "of one rank, as --peak-tflops says; left out if it does not", "0.05"},
    {"gemm_table", &RunRecord::gemms,
     "of a bundle for GPUs, where the log is a file, the algorithms of "
     "cuBLASLt that all ranks go by, in the form of a file for --gemm-table, "
     "with times of 0 as none were measured",
     "{\"gemm_table\": 2, \"gpu\": \"NVIDIA H100 80GB HBM3\", \"cublaslt\": "
     "130100, \"products\": []}"},
};

constexpr LogField<StepRecord> kStep[] = {
    {"step", &StepRecord::step, "number of the step, from 1", "2"},
    {"loss", &StepRecord::loss,
     "mean loss of the tokens of the global batch, in nats", "5.398637",
     "train/loss"},
    {"grad_norm", &StepRecord::gradNorm,
     "norm of all gradients together, before clipping", "4.417423489081051",
     "train/grad_norm"},
    {"lr", &StepRecord::lr, "learning rate of the step", "9.75e-05",
     "train/lr"},
    {"tokens", &StepRecord::tokens,
     "tokens of all steps so far, this one included", "1024", "train/tokens"},
    {"tokens_per_s", &StepRecord::tokensPerSecond,
     "tokens of the steps since the line before, divided by their seconds",
     "65536.5", "speed/tokens_per_s"},
    {"step_ms", &StepRecord::milliseconds,
     "milliseconds of a step, the mean since the line before", "7.8124",
     "speed/step_ms"},
    {"loss_scale", &StepRecord::lossScale,
     "only in fp16: what the loss of the step was multiplied by for its "
     "gradients",
     "65536", "train/loss_scale"},
    {"skipped_steps", &StepRecord::skippedSteps,
     "only in fp16: steps so far, this one included, whose gradients were not "
     "finite: the update was skipped, and the line of such a step has "
     "grad_norm null",
     "2", "train/skipped_steps"},
    {"samples", &StepRecord::samples,
     "samples of all steps so far, this one included", "32"},
    {"global_batch", &StepRecord::globalBatch,
     "only with rampup_batch_size: samples of the step", "16",
     "train/global_batch"},
    {"tflops", &StepRecord::tflops,
     "operations of the model (flops_rule of the header) that a rank makes in "
     "a "
     "second, in 10^12; left out if the bundle does not say them",
     "0.0225", "speed/tflops"},
    {"mfu", &StepRecord::mfu,
     "tflops divided by peak_tflops; left out without --peak-tflops", "0.45",
     "speed/mfu"},
    {"resident_bytes", &StepRecord::residentBytes,
     "resident memory of the process that logs, a rank on the last stage; all "
     "ranks with --comm threads",
     "31588352", "memory/resident_bytes"},
    {"time", &StepRecord::time,
     "when the line was written, seconds since 1970 "
     "(UTC)",
     "1764030002.5"},
    {"times_ms", &StepRecord::times,
     "with --timing-log-level: by name the least, mean and largest "
     "milliseconds "
     "over ranks, of a step since the line before; the means add up to the "
     "step",
     "{\"forward\": [2.1, 2.2, 2.3]}"},
    {"not_finite", &StepRecord::notFinite,
     "only in the line of a step that failed: what is not finite, the loss, "
     "the first parameter in the model's order whose gradient is, or \"square "
     "of the gradients in fp32\" where they are finite and too large",
     "\"gradient of layers.0.mlp.up.weight\""},
    {"bad_parameter", &StepRecord::badParameter,
     "beside not_finite, if a parameter was not finite before the step: the "
     "first one; the update of an earlier step made it so",
     "\"layers.0.norm1.scale\""},
};

constexpr LogField<EvaluationRecord> kEvaluation[] = {
    {"step", &EvaluationRecord::step,
     "the last step of the parameters; 0: none, or it is not known", "1000"},
    {"eval_loss", &EvaluationRecord::loss,
     "mean loss of the tokens of all batches, in nats", "5.41307", "eval/loss"},
    {"perplexity", &EvaluationRecord::perplexity, "e to the eval_loss",
     "224.32", "eval/perplexity"},
    {"batches", &EvaluationRecord::batches, "global batches that were read",
     "4"},
    {"first_sample", &EvaluationRecord::firstSample,
     "number of the first sample, from 0", "0"},
    {"not_finite", &EvaluationRecord::notFinite,
     "only if eval_loss is not finite: the loss", "\"loss\""},
};

} // namespace

std::span<const LogField<RunRecord>> runFields() { return kRun; }
std::span<const LogField<StepRecord>> stepFields() { return kStep; }
std::span<const LogField<EvaluationRecord>> evaluationFields() {
  return kEvaluation;
}

} // namespace mtc::runtime

//===- log_fields.cpp - every key of a log --------------------------------===//

#include "mtc/runtime/log_fields.h"

namespace mtc::runtime {
namespace {

constexpr LogField<StepRecord> kStep[] = {
    {"step", &StepRecord::step, "number of the step, from 1", "2"},
    {"loss", &StepRecord::loss,
     "mean loss of the tokens of the global batch, in nats", "5.398637"},
    {"grad_norm", &StepRecord::gradNorm,
     "norm of all gradients together, before clipping", "4.417423489081051"},
    {"lr", &StepRecord::lr, "learning rate of the step", "9.75e-05"},
    {"tokens", &StepRecord::tokens,
     "tokens of all steps so far, this one included", "1024"},
    {"tokens_per_s", &StepRecord::tokensPerSecond,
     "tokens of the step, divided by its seconds", "65536"},
    {"step_ms", &StepRecord::milliseconds, "milliseconds of the step",
     "7.8124"},
    {"loss_scale", &StepRecord::lossScale,
     "only in fp16: what the loss of the step was multiplied by for its "
     "gradients",
     "65536"},
    {"skipped_steps", &StepRecord::skippedSteps,
     "only in fp16: steps so far, this one included, whose gradients were not "
     "finite: the update was skipped, and the line of such a step has "
     "grad_norm null",
     "2"},
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
     "mean loss of the tokens of all batches, in nats", "5.41307"},
    {"perplexity", &EvaluationRecord::perplexity, "e to the eval_loss",
     "224.32"},
    {"batches", &EvaluationRecord::batches, "global batches that were read",
     "4"},
    {"first_sample", &EvaluationRecord::firstSample,
     "number of the first sample, from 0", "0"},
    {"not_finite", &EvaluationRecord::notFinite,
     "only if eval_loss is not finite: the loss", "\"loss\""},
};

} // namespace

std::span<const LogField<StepRecord>> stepFields() { return kStep; }
std::span<const LogField<EvaluationRecord>> evaluationFields() {
  return kEvaluation;
}

} // namespace mtc::runtime

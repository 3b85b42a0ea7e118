//===- recipe_fields.cpp - every key of a recipe --------------------------===//

#include "mtc/runtime/recipe_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mtc::runtime {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

/// The smallest number of fp32: what is less would be 0 on a device.
constexpr double kSmallest = 1e-45;

/// The largest rate and decay: far beyond sense, far below fp32's range.
constexpr double kLarge = 1e6;

/// Scales whose reciprocals are normal fp32, too.
constexpr double kSmallestScale = 0x1p-126, kLargestScale = 0x1p126;

const RecipeField kFields[] = {
    {"steps", "steps", "train-iters", &Recipe::steps, "optimizer steps", "350"},
    {"samples", "samples", "train-samples", &Recipe::samples,
     "samples to train on, in place of steps: as many steps as have no more "
     "than these; the schedules then count samples, too; 0: as steps says",
     "5600"},
    {"lr", "lr", "", &Recipe::lr, "highest learning rate", "3e-3", 0, kLarge},
    {"min_lr", "min-lr", "", &Recipe::min_lr,
     "lowest learning rate, at most lr; not used by decay constant", "3e-4", 0,
     kLarge},
    {"init_lr", "init-lr", "lr-warmup-init", &Recipe::init_lr,
     "learning rate at which warm-up begins, at most lr", "1e-6", 0, kLarge},
    {"warmup_steps", "warmup", "lr-warmup-iters", &Recipe::warmup_steps,
     "steps of warm-up: step s of them has init_lr + (lr - init_lr)*s/"
     "warmup_steps",
     "50"},
    {"warmup_samples", "warmup-samples", "lr-warmup-samples",
     &Recipe::warmup_samples, "the same in samples", "800"},
    {"warmup_fraction", "warmup-fraction", "lr-warmup-fraction",
     &Recipe::warmup_fraction,
     "warm-up as a part of decay_steps or decay_samples, in place of these",
     "0.01", 0, 1},
    {"decay_steps", "decay-steps", "lr-decay-iters", &Recipe::decay_steps,
     "the step at which min_lr is reached, warm-up included; 0: the last",
     "1000"},
    {"decay_samples", "decay-samples", "lr-decay-samples",
     &Recipe::decay_samples, "the same in samples", "16000"},
    {"decay",
     "decay",
     "lr-decay-style",
     &Recipe::decay,
     "the rate's way from lr to min_lr",
     "\"linear\"",
     0,
     kNoEnd,
     {"cosine", "linear", "constant", "inverse-square-root", "wsd"}},
    {"wsd_decay_steps", "wsd-decay-steps", "lr-wsd-decay-iters",
     &Recipe::wsd_decay_steps,
     "decay wsd: steps of the fall to min_lr, the last ones of decay_steps; "
     "before them, behind the warm-up, the rate is lr",
     "100"},
    {"wsd_decay_samples", "wsd-decay-samples", "lr-wsd-decay-samples",
     &Recipe::wsd_decay_samples, "the same in samples", "1600"},
    {"wsd_decay",
     "wsd-decay",
     "lr-wsd-decay-style",
     &Recipe::wsd_decay,
     "decay wsd: the way of that fall",
     "\"minus_sqrt\"",
     0,
     kNoEnd,
     {"linear", "cosine", "exponential", "minus_sqrt"}},
    {"lr_at",
     "lr-at",
     "",
     &Recipe::lr_at,
     "whether a step has the rate and decay of its end or of its start: with "
     "start the first step counts as 0, as in Megatron-LM, and has init_lr if "
     "there is a warm-up",
     "\"start\"",
     0,
     kNoEnd,
     {"end", "start"}},
    {"beta1", "beta1", "adam-beta1", &Recipe::beta1,
     "Adam: decay of the mean gradient; Lion: share of its momentum in a step",
     "0.9", 0, 1},
    {"beta2", "beta2", "adam-beta2", &Recipe::beta2,
     "Adam: decay of the mean square; Lion: decay of its momentum", "0.999", 0,
     1},
    // With 0 what has no gradient, or one whose square vanishes, would be
    // divided by 0.
    {"eps", "eps", "adam-eps", &Recipe::eps,
     "Adam: added to the root of the mean square, which may be 0", "1e-8",
     kSmallest, 1},
    {"momentum", "momentum", "sgd-momentum", &Recipe::momentum,
     "SGD: what stays of its buffer of gradients from step to step", "0.95", 0,
     1},
    {"weight_decay", "weight-decay", "end-weight-decay", &Recipe::weight_decay,
     "weight decay, decoupled with adamw and lion, else a part of the "
     "gradient; not of biases and norms",
     "0.01", 0, kLarge},
    {"start_weight_decay", "start-weight-decay", "",
     &Recipe::start_weight_decay,
     "weight decay at which a ramp to weight_decay begins", "0.01", 0, kLarge},
    {"weight_decay_ramp",
     "weight-decay-ramp",
     "weight-decay-incr-style",
     &Recipe::weight_decay_ramp,
     "the decay's way from start_weight_decay to weight_decay over all steps; "
     "constant: weight_decay throughout",
     "\"linear\"",
     0,
     kNoEnd,
     {"constant", "linear", "cosine"}},
    {"groups", "groups", "", &Recipe::groups,
     "numbers of groups of parameters, which the strategy's overrides make: of "
     "each lr_scale, which multiplies the rate, or lr and min_lr of its own, "
     "and weight_decay_scale or a weight_decay of its own; or frozen",
     "\"embeddings: lr_scale 0.1, weight_decay 0; head: lr 1e-4\""},
    {"clip", "clip", "clip-grad", &Recipe::clip,
     "threshold of the global gradient norm; 0: none", "0.5", kSmallest, 1e30,
     /*words=*/{}, /*orZero=*/true},
    {"loss_scale", "loss-scale", "", &Recipe::loss_scale,
     "of programs in fp16: what the loss is multiplied by before its gradient "
     "is taken, in every step; 0: a dynamic scale",
     "1024", kSmallestScale, kLargestScale, /*words=*/{}, /*orZero=*/true},
    {"initial_loss_scale", "initial-loss-scale", "",
     &Recipe::initial_loss_scale,
     "where a dynamic scale begins, at least min_loss_scale", "65536",
     kSmallestScale, kLargestScale},
    {"min_loss_scale", "min-loss-scale", "", &Recipe::min_loss_scale,
     "the least dynamic scale", "1", kSmallestScale, kLargestScale},
    {"loss_scale_window", "loss-scale-window", "", &Recipe::loss_scale_window,
     "a dynamic scale doubles behind so many steps without an overflow", "1000",
     1},
    {"hysteresis", "hysteresis", "", &Recipe::hysteresis,
     "a dynamic scale halves at this many overflows, and at each further one "
     "until it has doubled again",
     "2", 1},
    {"seed", "seed", "", &Recipe::seed,
     "of initial weights, dropout and the order of samples", "42"},
    {"data", "data", "data-path", &Recipe::data,
     "flat file of little-endian tokens, raw or llm.c's; or PREFIX of "
     "Megatron-LM's .bin and .idx, or several with weights; a relative path is "
     "relative to the current folder",
     "\"0.7 books 0.3 code\""},
    {"data_dtype",
     "data-type",
     "",
     &Recipe::data_dtype,
     "type of the tokens of a raw file; others say theirs",
     "\"u8\"",
     0,
     kNoEnd,
     {"u8", "u16", "i32", "u32"}},
    {"order",
     "order",
     "",
     &Recipe::order,
     "of samples; sequential: as they lie in the file",
     "\"sequential\"",
     0,
     kNoEnd,
     {"shuffled", "sequential"}},
    {"split", "split", "", &Recipe::split,
     "shares of the documents of Megatron-LM's corpora for training, "
     "evaluation and tests; empty: all are trained on",
     "\"969,30,1\""},
    {"data_samples", "data-samples", "", &Recipe::data_samples,
     "samples for which the order of Megatron-LM's corpora is drawn, at least "
     "those that are read; 0: these",
     "1000000"},
    {"eod", "eod", "", &Recipe::eod,
     "the token with which documents end, of programs that know documents; -1: "
     "they are the sequences of Megatron-LM's corpora",
     "50256", -1},
    {"data_cache_path", "data-cache-path", "", &Recipe::data_cache_path,
     "folder for the indices of Megatron-LM's corpora; empty: PREFIX.indices",
     "\"indices\""},
    {"eval_interval", "eval-interval", "", &Recipe::eval_interval,
     "evaluate behind every so many steps, and behind the last; 0: not",
     "1000"},
    {"eval_steps", "eval-steps", "eval-iters", &Recipe::eval_steps,
     "global batches of each evaluation", "100", 1},
    {"eval_data", "eval-data", "", &Recipe::eval_data,
     "data of evaluations, like data, but read in order from the start; empty: "
     "the second part of split, or with --eval the training data",
     "\"held-out.bin\""},
    {"seq", "seq", "", &Recipe::seq,
     "tokens of a sample: one of the lengths that the bundle was compiled "
     "for, or several, each with the steps that have it; evaluations have the "
     "last one; empty: the longest",
     "\"512:1000, 1024\""},
    {"global_batch_size", "global-batch-size", "", &Recipe::global_batch_size,
     "samples of a step: one of the batches that the bundle was compiled for; "
     "evaluations have it, too; 0: the largest",
     "32"},
    {"rampup_batch_size", "rampup-batch-size", "", &Recipe::rampup_batch_size,
     "start, increment and samples, as Megatron-LM's option: the batch grows "
     "from the start by the increment, in equal parts of the samples, to "
     "global_batch_size; the bundle must be compiled for all of these; empty: "
     "all steps have global_batch_size",
     "\"16 16 100000\"", 0, kNoEnd, /*words=*/{}, /*orZero=*/false,
     /*optionWords=*/3},
};

/// The field's word that differs in capitals only, or else the text.
std::string wordOf(const RecipeField &field, std::string_view text) {
  auto lower = [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  for (std::string_view word : field.words)
    if (std::ranges::equal(word, text, {}, {}, lower))
      return std::string(word);
  return std::string(text);
}

template <typename Number> bool parse(std::string_view text, Number &out) {
  auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && rest == text.data() + text.size();
}

} // namespace

std::span<const RecipeField> recipeFields() { return kFields; }

std::string expectedOf(const RecipeField &field) {
  if (!field.words.empty())
    return fmt::format("one of {}", fmt::join(field.words, ", "));
  if (std::holds_alternative<std::string Recipe::*>(field.member))
    return "a text";
  if (std::holds_alternative<uint64_t Recipe::*>(field.member))
    return fmt::format("an integer from 0 to {}", UINT64_MAX);
  if (std::holds_alternative<int64_t Recipe::*>(field.member))
    return fmt::format("an integer from {} to {}", field.least, INT64_MAX);
  std::string text = fmt::format("{}a number >= {}",
                                 field.orZero ? "0, or " : "", field.least);
  return std::isinf(field.below)
             ? text
             : fmt::format("{} and < {}", text, field.below);
}

std::string textOf(const RecipeField &field, const Recipe &recipe) {
  return std::visit(
      [&](auto member) { return fmt::format("{}", recipe.*member); },
      field.member);
}

bool setField(const RecipeField &field, std::string_view text, Recipe &recipe) {
  return std::visit(
      [&](auto member) {
        using T = std::remove_reference_t<decltype(recipe.*member)>;
        if constexpr (std::is_same_v<T, std::string>) {
          recipe.*member = wordOf(field, text);
          return true;
        } else {
          T value;
          // The subtraction is NaN for infinities and NaN.
          bool good = parse(text, value) && value - value == 0;
          if (good)
            recipe.*member = value;
          return good;
        }
      },
      field.member);
}

bool holds(const RecipeField &field, const Recipe &recipe) {
  return std::visit(
      [&](auto member) {
        const auto &value = recipe.*member;
        if constexpr (std::is_same_v<decltype(value), const std::string &>)
          return field.words.empty() ||
                 std::ranges::count(field.words, value) > 0;
        else if constexpr (std::is_same_v<decltype(value), const double &>)
          return (value >= field.least && value < field.below) ||
                 (field.orZero && value == 0);
        else
          return static_cast<double>(value) >= field.least;
      },
      field.member);
}

} // namespace mtc::runtime

//===- param_groups.h - how groups of parameters are updated ----*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_PARAM_GROUPS_H
#define MTC_RUNTIME_TRAIN_PARAM_GROUPS_H

#include "runtime/base/status.h"
#include "runtime/train/rates.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// What a recipe says of one group of parameters (strategies make the groups,
/// by patterns of names).
struct ParamGroup {
  std::string name;
  double lrScale = 1, decayScale = 1;
  /// In place of the recipe's, where they are given: the highest and the lowest
  /// rate, and a decay that stays.
  std::optional<double> lr, minLr, weightDecay;

  /// Of a step, with n of Rates.
  double learningRate(const Rates &rates, double n) const;
  double decay(const Rates &rates, double n) const;
};

/// Reads "embeddings: lr_scale 0.1, weight_decay 0; head: lr 1e-4, min_lr
/// 1e-5; tail: frozen". Errors: usage, all that is wrong at once.
Status parseGroups(std::string_view text, std::vector<ParamGroup> &out);

/// The same, for each of a program's groups in their order; a group of which
/// the text says nothing is updated as all others. Errors: usage, also for
/// groups that the program has not, with those that it has.
Status parseGroups(std::string_view text, const std::vector<std::string> &names,
                   std::vector<ParamGroup> &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_PARAM_GROUPS_H

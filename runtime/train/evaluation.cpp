//===- evaluation.cpp - the loss of data that are not trained on ----------===//

#include "runtime/train/evaluation.h"

namespace mtc::runtime {

Status Evaluation::batch(const EntryInfo &entry, TokenLoader &loader,
                         const GlobalBatch &batch, Observer *observer,
                         float &loss) {
  // Of no updates: the next step of training tells a device anew.
  schedule_.fill(batch, order_.block);
  MTC_RETURN_IF_ERROR(rank_.beginStep(order_));
  MTC_RETURN_IF_ERROR(rank_.walk(entry, 0, entry.length, loader, observer));
  for (const AxisInfo &axis : kAxes)
    if (axis.data && rank_.onLastStage())
      MTC_RETURN_IF_ERROR(
          rank_.comm().allReduce(*groupNamed(axis.name), MTC_SUM, MTC_F32,
                                 rank_.address(rank_.loss()), 1));
  MTC_RETURN_IF_ERROR(rank_.endStep());
  StepResult result;
  MTC_RETURN_IF_ERROR(rank_.readResult(result));
  loss = result.loss;
  return Status::okay();
}

} // namespace mtc::runtime

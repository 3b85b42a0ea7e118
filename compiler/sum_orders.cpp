//===- sum_orders.cpp - microbatches that do not ascend -------------------===//

#include "compiler/sum_orders.h"

#include "passes/pipeline/schedules/schedule.h"

#include <algorithm>
#include <map>

namespace mtc::compiler {

std::vector<SumOrder> ownSumOrders(ConfigAttr config) {
  std::vector<SumOrder> found;
  mlir::ArrayAttr lines = config.getSchedule().getSlots();
  if (!lines)
    return found;
  int64_t chunks = config.getSchedule().getChunks();
  for (auto [stage, line] :
       llvm::enumerate(lines.getAsRange<mlir::StringAttr>())) {
    schedules::Findings findings; // of a plan that was built there are none
    std::map<std::pair<int64_t, bool>, std::vector<int64_t>> orders;
    for (const schedules::Slot &slot :
         schedules::readSlots(line.getValue(), "", findings)) {
      bool addsLoss = slot.phase == schedules::Phase::F &&
                      stage + 1 == lines.size() && slot.chunk + 1 == chunks;
      if (addsLoss || slot.phase == schedules::Phase::B ||
          slot.phase == schedules::Phase::W)
        orders[{slot.chunk, addsLoss}].push_back(slot.microbatch);
    }
    for (auto &[key, order] : orders)
      if (!std::is_sorted(order.begin(), order.end()))
        found.push_back({int64_t(stage), key.first, std::move(order)});
  }
  return found;
}

} // namespace mtc::compiler

//===- sum_orders.h - microbatches that do not ascend -----------*- C++ -*-===//
#ifndef MTC_COMPILER_SUM_ORDERS_H
#define MTC_COMPILER_SUM_ORDERS_H

#include "compiler/plan.h"
#include "dialects/mtc/Mtc.h"

#include <cstdint>
#include <vector>

namespace mtc::compiler {

/// Of a schedule that somebody wrote, the orders that do not ascend, by stage
/// and chunk: such a plan has the bits of no other order. Losses, which the
/// last virtual stage adds forward, count there, too.
std::vector<SumOrder> ownSumOrders(ConfigAttr config);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SUM_ORDERS_H

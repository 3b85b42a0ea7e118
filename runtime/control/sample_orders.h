//===- sample_orders.h - samples in the order of before ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_SAMPLE_ORDERS_H
#define MTC_RUNTIME_CONTROL_SAMPLE_ORDERS_H

#include "runtime/checkpoint/manifest.h"
#include "runtime/train/job.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// A warning for each length of samples whose order is not the one that the
/// checkpoint's run had: what was found, and what it means. Of lengths that one
/// of them did not read nothing is known, and nothing of contents that a flat
/// file has.
std::vector<std::string> changedOrders(const Manifest &before, const Job &job);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_SAMPLE_ORDERS_H

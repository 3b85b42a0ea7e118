//===- sample_orders.h - samples in the order of before ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_SAMPLE_ORDERS_H
#define MTC_RUNTIME_CONTROL_SAMPLE_ORDERS_H

#include "runtime/checkpoint/manifest.h"
#include "runtime/train/job.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// A warning for each length of samples whose order is not the one in which a
/// run before the checkpoint read it last: what was found, and what it means.
/// Of lengths that none of them read nothing is known, and nothing of contents
/// that a flat file has.
std::vector<std::string> changedOrders(const Manifest &before, const Job &job);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_SAMPLE_ORDERS_H

//===- gpus.h - the GPUs of the machine that is stood in for ----*- C++ -*-===//
#ifndef MTC_TEST_CUDA_DRIVER_GPUS_H
#define MTC_TEST_CUDA_DRIVER_GPUS_H

#include "test/cuda/driver/handles.h"

#include <memory>
#include <vector>

namespace mtc::standin {

/// The contexts of the GPUs that a process sees, none of them retained: those
/// of MTC_STANDIN_DEVICES, as CUDA_VISIBLE_DEVICES picks them.
std::vector<std::unique_ptr<CUctx_st>> visibleGpus();

/// Whether one may reach the other's memory, as cards of one kind do that have
/// NVLink.
bool canReach(const CUctx_st &gpu, const CUctx_st &peer);

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_GPUS_H

//===- node_parameters.h - works from the API's structs, and back -*- C++ -===//
#ifndef MTC_TEST_CUDA_DRIVER_NODE_PARAMETERS_H
#define MTC_TEST_CUDA_DRIVER_NODE_PARAMETERS_H

#include "test/cuda/driver/driver.h"
#include "test/cuda/driver/works.h"

#include <memory>

namespace mtc::standin {

// Null: the driver would refuse it.
std::unique_ptr<KernelWork> kernelOf(Driver &driver,
                                     const CUDA_KERNEL_NODE_PARAMS *parameters,
                                     CUresult &result);
std::unique_ptr<FillWork> fillOf(Driver &driver,
                                 const CUDA_MEMSET_NODE_PARAMS *parameters);
/// Copies of one row only.
std::unique_ptr<CopyWork> copyOf(Driver &driver,
                                 const CUDA_MEMCPY3D *parameters);

CUDA_KERNEL_NODE_PARAMS parametersOf(const KernelWork &work);
CUDA_MEMSET_NODE_PARAMS parametersOf(const FillWork &work);
CUDA_MEMCPY3D parametersOf(const CopyWork &work);

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_NODE_PARAMETERS_H

//===- nccl_api.h - nccl.h, its functions exported --------------*- C++ -*-===//
//
// The library hides what it defines; the functions of nccl.h are the exception,
// and weak, as those of the real one are.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_NCCL_NCCL_API_H
#define MTC_TEST_CUDA_NCCL_NCCL_API_H

#pragma GCC visibility push(default)
#include <nccl.h>
#pragma GCC visibility pop

#include <cuda.h>

#define MTC_NCCL extern "C" __attribute__((weak)) ncclResult_t

#endif // MTC_TEST_CUDA_NCCL_NCCL_API_H

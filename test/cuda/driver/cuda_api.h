//===- cuda_api.h - the toolkit's header, its functions exported -*- C++
//-*-===//
//
// The library hides what it defines; the functions of cuda.h are the exception.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_DRIVER_CUDA_API_H
#define MTC_TEST_CUDA_DRIVER_CUDA_API_H

#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#endif // MTC_TEST_CUDA_DRIVER_CUDA_API_H

//===- lt_api.h - the toolkit's header, its functions exported --*- C++ -*-===//
//
// The library hides what it defines; the functions of cublasLt.h are the
// exception.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_BLAS_LT_API_H
#define MTC_TEST_CUDA_BLAS_LT_API_H

#pragma GCC visibility push(default)
#include <cublasLt.h>
#pragma GCC visibility pop

#define MTC_LT extern "C" cublasStatus_t CUBLASWINAPI

#endif // MTC_TEST_CUDA_BLAS_LT_API_H

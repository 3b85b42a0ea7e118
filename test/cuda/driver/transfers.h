//===- transfers.h - copies and memsets, checked ----------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_DRIVER_TRANSFERS_H
#define MTC_TEST_CUDA_DRIVER_TRANSFERS_H

#include "test/cuda/driver/driver.h"
#include "test/cuda/driver/works.h"

#include <memory>

namespace mtc::standin {

/// A copy, of one byte or more. Null: a side is no memory of its kind, or not
/// all of it.
std::unique_ptr<CopyWork> makeCopy(Driver &driver, Side toSide, uint64_t to,
                                   Side fromSide, uint64_t from, size_t bytes);

/// A memset, of one element or more. Null: it is misaligned, or leaves its
/// memory.
std::unique_ptr<FillWork> makeFill(Driver &driver, uint64_t to, unsigned value,
                                   unsigned elementBytes, size_t width,
                                   size_t height = 1, size_t pitch = 0);

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_TRANSFERS_H

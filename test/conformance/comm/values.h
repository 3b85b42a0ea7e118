//===- values.h - test data and the sequential reference --------*- C++ -*-===//
#ifndef MTC_TEST_CONFORMANCE_COMM_VALUES_H
#define MTC_TEST_CONFORMANCE_COMM_VALUES_H

#include "mtc/runtime/abi.h"

#include <cstdint>
#include <span>
#include <string>

namespace mtc::test {

int64_t widthOf(MtcDtype dtype);
const char *nameOf(MtcDtype dtype);

/// Element `index` that `rank` contributes, as bytes. Floats spread over many
/// magnitudes and both signs, so that another order of a sum of three gives
/// other bits; integers have carries over all words.
void putValue(MtcDtype dtype, int rank, int64_t index, uint64_t salt,
              char *out);

/// Fills [0, count) of `buffer` with the elements first, first + 1, ...
void fill(MtcDtype dtype, int rank, int64_t first, int64_t count, uint64_t salt,
          char *buffer);

/// The reduction over `ranks`, left to right, of element `index`: a plain loop
/// that shares no code with the backends.
void putReduced(MtcReduce op, MtcDtype dtype, std::span<const int> ranks,
                int64_t index, uint64_t salt, char *out);

/// "" if buffer holds reduce(first), reduce(first + 1), ...; else the first
/// difference.
std::string checkReduced(MtcReduce op, MtcDtype dtype,
                         std::span<const int> ranks, int64_t first,
                         int64_t count, uint64_t salt, const char *buffer);

/// The same where members are added in any order, each sum rounded to the type:
/// (members - 1) roundings of at most the sum of magnitudes are allowed.
std::string checkAdded(MtcDtype dtype, std::span<const int> ranks,
                       int64_t first, int64_t count, uint64_t salt,
                       const char *buffer);

/// "" if buffer holds what `rank` contributed at first, first + 1, ...
std::string checkCopied(MtcDtype dtype, int rank, int64_t first, int64_t count,
                        uint64_t salt, const char *buffer);

} // namespace mtc::test
#endif // MTC_TEST_CONFORMANCE_COMM_VALUES_H

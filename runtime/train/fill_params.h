//===- fill_params.h - parameters on their way to a device ------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_FILL_PARAMS_H
#define MTC_RUNTIME_TRAIN_FILL_PARAMS_H

#include "runtime/pieces/slab.h"
#include "runtime/program/rank.h"

#include <functional>

namespace mtc::runtime {

/// Fills a rank's parameters part by part: the values of one part are made on
/// the host while the copies of the one before run, so that no rank needs host
/// memory for all.
class ParamFiller {
public:
  /// Writes the fp32 values of a box of the global tensor to `out`, row-major.
  using Values = std::function<Status(const Box &box, float *out)>;

  explicit ParamFiller(RankState &rank)
      : rank_(rank), values_(rank.stream()), rounded_(rank.stream()) {}

  /// Issues copies of all values of this rank's shard of `p`: to the
  /// parameters, those of 16 bits rounded to nearest even, and then to the main
  /// parameters that the rank holds. Errors: those of `values` and the stream.
  Status fill(const ParamInfo &p, const Values &values);

  /// Writes the values of elements [first, first + count) of this rank's shard.
  using Elements =
      std::function<Status(int64_t first, int64_t count, float *out)>;
  /// Issues copies of a state of `p`, of the elements whose states this rank
  /// holds. Errors: those of `values` and the stream.
  Status fillState(const ParamInfo &p, const StateInfo &state,
                   const Elements &values);

private:
  Status send(const BucketInfo &b, int64_t first, const float *values,
              int64_t count);
  Status sendRounded(const BucketInfo &b, int64_t first, const float *values,
                     int64_t count);

  RankState &rank_;
  Staging values_, rounded_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_FILL_PARAMS_H

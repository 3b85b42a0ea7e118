//===- norm_counter.h - the norm of values as they are made -----*- C++ -*-===//
#ifndef MTC_RUNTIME_KERNELS_CPU_NORM_COUNTER_H
#define MTC_RUNTIME_KERNELS_CPU_NORM_COUNTER_H

#include "runtime/kernels/cpu/norm.h"
#include "runtime/kernels/cpu/norm_window.h"

namespace mtc::runtime {

/// One thread's sum of squares of what a kernel makes, piece by piece. The sum
/// is that of normAccumulate, whatever the pieces and their order.
class NormCounter {
public:
  NormCounter();

  /// Whether this processor has the instructions of kernels that fill windows.
  static bool hasWindows();

  /// An empty window for one piece, of at most kWindowValues values.
  NormWindow &begin();
  /// Adds what the window was given. False, and it adds nothing, if some value
  /// was out of the window: then the piece has to be added as it lies in
  /// memory. Later windows are where this one's values fit.
  bool end();

  /// Adds the squares of g[0, values), which a kernel has just made: they are
  /// best still in a core's cache.
  void count(const float *g, int64_t values);
  /// Adds the squares of `rows` rows of `columns` values, `stride` apart.
  void add(const float *at, int64_t stride, int64_t rows, int64_t columns);

  /// Adds what was added here.
  void addTo(NormSum &sum) const;

private:
  void place(int exponent);

  NormSum sum;
  NormWindow window;
  int unit = 0; ///< the exponent of the window's
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_NORM_COUNTER_H

// CMakeLists.txt gives this file's -march.
#include "norm_rows.h"

#include "runtime/kernels/cpu/norm_window_body.h"

static_assert(kFillsWindows);

void mtc::test::countRows(NormWindow &to, const float *at, int64_t rows) {
  constexpr int kVectors = kRowValues / kW;
  for (; rows > 0; rows -= kTileRows, at += kTileRows * kRowValues) {
    F x[kTileRows * kVectors];
    int64_t vectors = kVectors * (rows < kTileRows ? rows : kTileRows);
    for (int v = 0; v < kTileRows * kVectors; ++v) // behind them nobody looks
      x[v] = v < vectors ? load(at + v * kW) : broadcast(__builtin_inff());
    count(to, (const float *)x, vectors);
  }
}

// What fills windows; CMakeLists.txt gives this file's -march.
#include "runtime/kernels/cpu/norm_window_body.h"

namespace mtc::runtime {
void fillWindow(NormWindow &to, const float *at, int64_t vectors) {
  count(to, at, vectors);
}
} // namespace mtc::runtime

// The loops for x86-64-v3; CMakeLists.txt gives this file's -march.
#include "runtime/comm/moves_body.h"

namespace mtc::runtime::comm {
const MoveTable kMovesV3 = {reduceAll, copyAll};
} // namespace mtc::runtime::comm

// The loops for x86-64-v4; CMakeLists.txt gives this file's -march.
#include "runtime/comm/moves_body.h"

namespace mtc::runtime::comm {
const MoveTable kMovesV4 = {reduceAll, copyAll};
} // namespace mtc::runtime::comm

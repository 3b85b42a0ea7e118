// The loops for every processor.
#include "runtime/comm/moves_body.h"

namespace mtc::runtime::comm {
const MoveTable kMovesBase = {reduceAll, copyAll};
} // namespace mtc::runtime::comm

//===- mpi_world.cpp - a rank of many hosts, as its process sees it -------===//

#include "runtime/comm/mpi/mpi_world.h"

namespace mtc::runtime {

Communicator &MpiWorld::join(int rank, const ArenaViews &arenas) {
  comm_ =
      std::make_unique<MpiCommunicator>(engine_, alarm_, mesh_, rank, arenas);
  return *comm_;
}

StepGate MpiWorld::gate() {
  return StepGate(gate_, saves_, [this](bool &closed, bool &asked) {
    float said[] = {float(closed), float(asked)};
    // A failure is this rank's, which its next call meets again.
    if (!comm_->ask(said).ok())
      return;
    closed = said[0] > 0;
    asked = said[1] > 0;
  });
}

} // namespace mtc::runtime

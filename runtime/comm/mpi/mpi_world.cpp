//===- mpi_world.cpp - a rank of many hosts, as its process sees it -------===//

#include "runtime/comm/mpi/mpi_world.h"

#include <algorithm>

namespace mtc::runtime {

Communicator &MpiWorld::join(int rank, const ArenaViews &arenas) {
  comm_ =
      std::make_unique<MpiCommunicator>(engine_, alarm_, mesh_, rank, arenas);
  if (!host_)
    return *comm_;
  hosts_ = std::make_unique<HostsCommunicator>(host_->comm(), *comm_, alarm_,
                                               mesh_, rank, host_->near());
  return *hosts_;
}

ArenaViews MpiWorld::sharedArenas(int) const {
  ArenaViews views{};
  if (host_)
    std::ranges::copy(host_->comm().arenas(), views.begin());
  return views;
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

//===- seat.cpp - a rank's place in a world -------------------------------===//

#include "runtime/control/seat.h"

#include "runtime/device/devices.h"

#include <fmt/format.h>

namespace mtc::runtime {

Status checkPlan(const std::string &found, const std::string &begun) {
  if (begun.empty() || found == begun)
    return Status::okay();
  return {StatusCode::inputRejected,
          fmt::format("the bundle is not the one that this run began with: "
                      "expected plan {}, found {}; leave a run its bundle, and "
                      "compile into another folder",
                      begun, found)};
}

Status openStage(const std::string &path, const Job &job, Program &out) {
  MTC_RETURN_IF_ERROR(openSharedProgram(path, out));
  Descriptor descriptor;
  MTC_RETURN_IF_ERROR(parseDescriptor(out.descriptor, descriptor));
  return checkPlan(descriptor.planHash, job.plan);
}

Status takeSeat(World &world, RankPlace place, const Program &program,
                const Descriptor &descriptor, const Job &job, FlightRing *ring,
                Seat &out) {
  int rank = place.rank;
  DeviceRequest request{rank,
                        {place.local, job.gpu},
                        descriptor.arenas,
                        world.sharedArenas(rank),
                        descriptor.streams,
                        program.device,
                        job.nccl,
                        job.gemmTable};
  MTC_RETURN_IF_ERROR(makeDevice(request, out.device));
  MTC_RETURN_IF_ERROR(out.device->prepare(descriptor));
  out.rank = rank;
  out.flight = std::make_unique<FlightCommunicator>(
      world.join(rank, out.device->hostArenas()), descriptor.mesh, rank, ring);
  out.comm = &out.device->issuing(*out.flight);
  return Status::okay();
}

Status runSeat(Seat &seat, Program program, const Descriptor &descriptor,
               const Job &job, TrainerSignals signals) {
  RankParts parts{std::move(program), descriptor, seat.rank,
                  seat.device.get(),  seat.comm,  seat.flight.get()};
  std::unique_ptr<RankState> rank;
  if (Status made = RankState::create(std::move(parts), rank); !made.ok()) {
    seat.comm->abort(); // others may be waiting for this rank
    return made;
  }
  Trainer trainer(*rank, job, signals);
  Status status = trainer.run();
  if (!status.ok() && signals.failed)
    signals.failed(status);
  // What a failure left in the queue fails as well: the ranks were aborted.
  if (CommStream *comms = seat.device->commStream())
    (void)comms->finish();
  return status;
}

} // namespace mtc::runtime

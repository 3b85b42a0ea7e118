//===- seat.h - a rank's place in a world -----------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_SEAT_H
#define MTC_RUNTIME_CONTROL_SEAT_H

#include "runtime/comm/worlds.h"
#include "runtime/device/device.h"
#include "runtime/program/program.h"
#include "runtime/train/trainer.h"

namespace mtc::runtime {

/// What a rank runs on and talks by.
struct Seat {
  int rank = 0;
  std::unique_ptr<Device> device;
  /// Of the world's communicator, and what it does.
  std::unique_ptr<FlightCommunicator> flight;
  Communicator *comm = nullptr; ///< issues on the device's stream
};

/// A rank, and its number among those of its host.
struct RankPlace {
  int rank = 0, local = 0;
};

/// Whether a plan is the one that a run began with, by their hashes: its bundle
/// may be another one by now. A run of an older mtc has none. Error:
/// inputRejected.
Status checkPlan(const std::string &found, const std::string &begun);

/// Opens the shared object of a stage, which must be of that plan. Errors:
/// those of openSharedProgram, parseDescriptor and checkPlan.
Status openStage(const std::string &path, const Job &job, Program &out);

/// Makes the device of a rank, prepares it for the rank's program, and joins
/// the world, which must outlive the seat, and so must `ring`, which gets what
/// the rank does; null: nothing is noted. For ranks of one process one after
/// another. Errors: those of makeDevice and Device::prepare.
Status takeSeat(World &world, RankPlace place, const Program &program,
                const Descriptor &descriptor, const Job &job, FlightRing *ring,
                Seat &out);

/// Runs a job as the rank of a seat, from its parameters to its files. Errors:
/// those of RankState::create and Trainer::run.
Status runSeat(Seat &seat, Program program, const Descriptor &descriptor,
               const Job &job, TrainerSignals signals);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_SEAT_H

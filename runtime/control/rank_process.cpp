//===- rank_process.cpp - one rank as a process ---------------------------===//

#include "runtime/control/rank_process.h"

#include "runtime/control/flight_memory.h"
#include "runtime/control/seat.h"
#include "runtime/control/signals.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

namespace mtc::runtime {
namespace {

Status numberFromEnvironment(const char *name, int &out) {
  const char *text = std::getenv(name);
  if (!text)
    return {StatusCode::usage,
            std::string("this is a compiled program of mtc: expected ") + name +
                " in the environment; start it with `mtc run FOLDER`"};
  const char *end = text + std::strlen(text);
  auto [rest, error] = std::from_chars(text, end, out);
  if (error != std::errc() || rest != end || out < 0)
    return {StatusCode::usage,
            std::string(name) + ": expected a number, found '" + text + "'"};
  return Status::okay();
}

/// All ranks share the descriptor and so its position: read by offset.
Status readJob(Job &job) {
  int fd = -1;
  MTC_RETURN_IF_ERROR(numberFromEnvironment(kJobVariable, fd));
  std::string text;
  char buffer[4096];
  ssize_t n;
  while ((n = pread(fd, buffer, sizeof buffer,
                    static_cast<off_t>(text.size()))) > 0)
    text.append(buffer, static_cast<size_t>(n));
  return unpackJob(text, job);
}

Status checkMesh(const Mesh &launched, const Descriptor &d) {
  if (launched == d.mesh)
    return Status::okay();
  return {StatusCode::inputRejected,
          "the launcher's mesh is not the one that this program was compiled "
          "for"};
}

/// Says how a rank failed. Its launcher ends it soon, whatever it waits for.
void say(const Status &status) {
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
}

/// `isSaid`: whether somebody has said how it failed.
Status runRank(Program program, const SignalWatch &signals, bool &isSaid) {
  int rankNumber = -1;
  MTC_RETURN_IF_ERROR(numberFromEnvironment(kRankVariable, rankNumber));
  Job job;
  MTC_RETURN_IF_ERROR(readJob(job));
  Descriptor descriptor;
  MTC_RETURN_IF_ERROR(parseDescriptor(program.descriptor, descriptor));
  MTC_RETURN_IF_ERROR(checkPlan(descriptor.planHash, job.plan));
  std::unique_ptr<World> world;
  WorldRequest request;
  request.rank = rankNumber;
  request.threads = std::max(descriptor.streams, descriptor.threads);
  MTC_RETURN_IF_ERROR(makeWorld(CommKind::shm, request, world));
  MTC_RETURN_IF_ERROR(checkMesh(world->mesh(), descriptor));
  FlightMemory flight; // outlives the seat
  MTC_RETURN_IF_ERROR(FlightMemory::attach(rankNumber, flight));
  Seat seat;
  MTC_RETURN_IF_ERROR(takeSeat(*world, {rankNumber, rankNumber}, program,
                               descriptor, job, flight.ring(rankNumber), seat));
  TrainerSignals trainer{signals.stop(), world->gate(), &signals.saves(),
                         world->step(rankNumber), world->beats(rankNumber)};
  trainer.failed = [&](const Status &status) {
    say(status);
    isSaid = true;
  };
  return runSeat(seat, std::move(program), descriptor, job, std::move(trainer));
}

} // namespace

int runRankProcess(Program program) {
  SignalWatch signals(/*once=*/false);
  signals.keep();
  Status status;
  bool isSaid = false;
  try {
    status = runRank(std::move(program), signals, isSaid);
  } catch (const std::bad_alloc &) {
    status = {StatusCode::failed,
              "out of memory; check `ulimit -v` and free memory"};
  }
  if (!status.ok() && !isSaid)
    say(status);
  return static_cast<int>(status.code());
}

} // namespace mtc::runtime

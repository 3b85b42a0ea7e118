//===- mpi_world.cpp - ranks that are started as on many hosts ------------===//

#include "mpi_world.h"

#include "runtime/comm/mpi/load.h"
#include "runtime/comm/mpi/mpi_world.h"
#include "runtime/comm/mpi/pmi.h"
#include "runtime/rendezvous/channel.h"

#include <csignal>
#include <cstdlib>
#include <sys/mman.h>

namespace mtc::test {
namespace {

using runtime::ArenaViews;
using runtime::ControlChannel;
using runtime::Mesh;
using runtime::Status;

ArenaViews makeArenas(int64_t bytes) {
  ArenaViews views{};
  for (runtime::ArenaView &view : views)
    view = {mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            bytes};
  return views;
}

Status meet(const MpiPlace &place, const Mesh &mesh,
            std::unique_ptr<ControlChannel> &channel) {
  runtime::Member self{place.rank, int(mesh.worldSize()), "plan", "bundle",
                       "here"};
  runtime::MeetOptions options;
  options.listenFd = place.listenFd;
  options.port = place.port;
  options.secret = "of a test";
  options.timeout = std::chrono::seconds(30);
  return ControlChannel::open(self, options, {}, channel);
}

Status begin(ControlChannel &channel, const MpiPlace &place, const Mesh &mesh,
             std::unique_ptr<runtime::PmiServer> &pmi,
             const MpiEngine *&engine) {
  if (place.library == "mpich")
    MTC_RETURN_IF_ERROR(runtime::PmiServer::start(
        place.rank, int(mesh.worldSize()),
        [&](const std::string &own, std::vector<std::string> &all) {
          return channel.gather(own, all);
        },
        pmi));
  MTC_RETURN_IF_ERROR(runtime::loadMpi(
      MTC_MPI_FOLDER, *runtime::mpiLibraryNamed(place.library), engine));
  int found = -1, size = 0;
  if (engine->initialize(&found, &size) == 0 && found == place.rank &&
      size == mesh.worldSize())
    return Status::okay();
  return {runtime::StatusCode::failed, "MPI has another idea of this rank"};
}

Status shareHost(ControlChannel &channel, const MpiPlace &place,
                 const Mesh &mesh, int64_t arenaBytes,
                 std::unique_ptr<runtime::SharedHost> &host) {
  runtime::HostShare own{place.rank, mesh, {}, kPosted, 1, ""};
  own.arenas.fill(arenaBytes);
  own.key = "host " + std::to_string(place.rank / place.ranksPerHost);
  return runtime::SharedHost::join(
      own,
      [&](const std::string &said, std::vector<std::string> &all) {
        return channel.gather(said, all);
      },
      host);
}

} // namespace

std::string runMpiRank(const MpiPlace &place, const Mesh &mesh,
                       int64_t arenaBytes, const Body &body) {
  int rank = place.rank;
  std::unique_ptr<ControlChannel> channel;
  MTC_EXPECT_OK(meet(place, mesh, channel));
  std::unique_ptr<runtime::PmiServer> pmi;
  const MpiEngine *engine = nullptr;
  MTC_EXPECT_OK(begin(*channel, place, mesh, pmi, engine));
  std::unique_ptr<runtime::SharedHost> host;
  if (place.ranksPerHost > 1)
    MTC_EXPECT_OK(shareHost(*channel, place, mesh, arenaBytes, host));
  bool shares = host != nullptr; // not the last one of an odd number
  std::string found;
  {
    runtime::MpiWorld world(*engine, *channel, mesh, std::move(host));
    ArenaViews arenas =
        shares ? world.sharedArenas(rank) : makeArenas(arenaBytes);
    runtime::Communicator &comm = world.join(rank, arenas);
    Rank self{rank, mesh, comm, arenas, [] {
                raise(SIGKILL);
                return std::string();
              }};
    found = body(self);
  }
  // What is on its way arrives, unless somebody failed and waits for nothing.
  std::vector<std::string> all;
  if (channel->gather(found, all).ok() &&
      std::ranges::all_of(all, [](auto &text) { return text.empty(); }))
    engine->finalize();
  channel->finish({});
  return found;
}

} // namespace mtc::test

//===- world.cpp - all ranks in one process -------------------------------===//

#include "runtime/comm/threads/state.h"

#include "runtime/comm/reduce.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {
namespace comm {

ThreadsState::ThreadsState(const Mesh &mesh, ThreadsOptions options)
    : mesh(mesh), options(options), ranks(mesh.worldSize()),
      groups(size_t(MTC_GROUP_COUNT) * mesh.worldSize()),
      groupOf(groups.size()), channels(ranks.size() * ranks.size()) {
  for (RankSlot &slot : ranks)
    slot.matches.reserve(kRoom);
  for (Channel &channel : channels) {
    channel.sends.reserve(kRoom);
    channel.receives.reserve(kRoom);
  }
  for (int kind = 0; kind < MTC_GROUP_COUNT; ++kind)
    for (int rank = 0; rank < mesh.worldSize(); ++rank) {
      std::vector<int> members = mesh.members(rank, MtcGroup(kind));
      if (members.empty() || members[0] != rank)
        continue;
      Rendezvous &group = groups[size_t(kind) * ranks.size() + rank];
      group.calls.resize(members.size());
      group.buffers.resize(members.size());
      group.placements.resize(members.size());
      group.present.resize(members.size());
      for (int member : members)
        groupOf[size_t(kind) * ranks.size() + member] = &group;
      group.members = std::move(members);
    }
}

void ThreadsState::fail(std::span<const int> members, const Status &status) {
  for (int rank : members)
    if (ranks[rank].failure.ok())
      ranks[rank].failure = status;
  // No member failed by itself: the status is about a death or an abort.
  const char *prefix = members.empty() ? "" : "another rank failed: ";
  for (RankSlot &slot : ranks) {
    if (slot.failure.ok())
      slot.failure = Status(StatusCode::peerDied, prefix + status.message());
  }
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    for (Within call : {Within::collective, Within::wait})
      release(int(rank), call);
}

void ThreadsState::block(int rank, Within call) {
  ranks[rank].blocked[size_t(call)] = true;
  --ranks[rank].running;
}

void ThreadsState::release(int rank, Within call) {
  bool &blocked = ranks[rank].blocked[size_t(call)];
  ranks[rank].running += blocked;
  blocked = false;
  ranks[rank].wake.notify_all();
}

void ThreadsState::countRunning(int rank, int change) {
  Lock held(lock);
  ranks[rank].running += change;
  detectDeadlock();
}

void ThreadsState::finish(int rank) {
  Lock held(lock);
  ranks[rank].finished = true;
  detectDeadlock();
  withdraw(held, rank);
}

namespace {

class ThreadsCommunicator final : public Communicator {
public:
  ThreadsCommunicator(std::shared_ptr<ThreadsState> state, int rank,
                      std::span<const ArenaView> arenas)
      : state_(std::move(state)), rank_(rank),
        arenas_(arenas.begin(), arenas.end()) {}
  ~ThreadsCommunicator() override { state_->finish(rank_); }

  Status collective(const CollectiveCall &asked, void *buffer,
                    SumReader *reader) override {
    if (asked.group < 0 || asked.group >= MTC_GROUP_COUNT)
      return {StatusCode::usage,
              fmt::format("expected a group of 0 to {}, found {}",
                          MTC_GROUP_COUNT - 1, int(asked.group))};
    CallRecord call{asked, ++sequence_[asked.group]};
    MTC_RETURN_IF_ERROR(state_->collective(rank_, arenas_, call, buffer));
    const std::vector<int> &members = state_->group(rank_, call.group)->members;
    int size = int(members.size());
    tellPiece(call, int(std::ranges::find(members, rank_) - members.begin()),
              size, reader);
    if (size > 1)
      moved_[call.group] +=
          bufferElements(call, size) * elementBytes(call.dtype);
    return Status::okay();
  }
  Status post(std::span<const MtcTransfer> transfers) override {
    return state_->post(rank_, arenas_, transfers);
  }
  Status wait(std::span<const MtcTransfer> transfers) override {
    MTC_RETURN_IF_ERROR(state_->wait(rank_, transfers));
    for (const MtcTransfer &t : transfers)
      moved_[MTC_GROUP_COUNT] += t.is_send ? t.bytes : 0;
    return Status::okay();
  }
  void abort() override {
    Lock held(state_->lock);
    state_->fail({},
                 {StatusCode::peerDied, fmt::format("rank {} aborted", rank_)});
  }
  void threadWakes() override { state_->countRunning(rank_, 1); }
  void threadSleeps() override { state_->countRunning(rank_, -1); }
  void finish() override { state_->finish(rank_); }
  std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const override {
    return moved_;
  }

private:
  std::shared_ptr<ThreadsState> state_;
  int rank_;
  std::vector<ArenaView> arenas_;
  std::array<uint64_t, MTC_GROUP_COUNT> sequence_{};
  std::array<int64_t, MTC_GROUP_COUNT + 1> moved_{};
};

} // namespace
} // namespace comm

ThreadsWorld::ThreadsWorld(const Mesh &mesh, ThreadsOptions options)
    : state_(std::make_shared<comm::ThreadsState>(mesh, options)) {}

ThreadsWorld::~ThreadsWorld() = default;

std::unique_ptr<Communicator>
ThreadsWorld::join(int rank, std::span<const ArenaView> arenas) {
  return std::make_unique<comm::ThreadsCommunicator>(state_, rank, arenas);
}

void ThreadsWorld::markDead(int rank) {
  comm::Lock held(state_->lock);
  state_->fail({}, {StatusCode::peerDied, fmt::format("rank {} died", rank)});
}

} // namespace mtc::runtime

//===- wire.cpp - messages between ranks, and waiting for them ------------===//

#include "runtime/comm/mpi/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sched.h>
#include <thread>

namespace mtc::runtime::comm {

Status MpiWire::check(int error) const {
  if (error == 0)
    return Status::okay();
  char text[512] = "";
  engine_.explain(error, text, sizeof text);
  return {StatusCode::communication, fmt::format("MPI: {}", text)};
}

Status MpiWire::send(const void *data, int64_t bytes, int to, int tag,
                     MpiRequest &request) {
  return check(engine_.send(data, bytes, to, tag, &request));
}

Status MpiWire::receive(void *data, int64_t bytes, int from, int tag,
                        MpiRequest &request) {
  return check(engine_.receive(data, bytes, from, tag, &request));
}

Status MpiWire::test(MpiRequest &request, bool &done) {
  int found = 0;
  Status status = check(engine_.test(&request, &found));
  done = found != 0;
  return status;
}

Status MpiWire::send(const void *data, int64_t bytes, int to, int tag,
                     MpiBatch &batch) {
  for (int64_t at = 0; at < bytes; at += kMostMessageBytes) {
    batch.open_.emplace_back();
    MTC_RETURN_IF_ERROR(send(static_cast<const char *>(data) + at,
                             std::min(bytes - at, kMostMessageBytes), to, tag,
                             batch.open_.back()));
  }
  return Status::okay();
}

Status MpiWire::receive(void *data, int64_t bytes, int from, int tag,
                        MpiBatch &batch) {
  for (int64_t at = 0; at < bytes; at += kMostMessageBytes) {
    batch.open_.emplace_back();
    MTC_RETURN_IF_ERROR(receive(static_cast<char *>(data) + at,
                                std::min(bytes - at, kMostMessageBytes), from,
                                tag, batch.open_.back()));
  }
  return Status::okay();
}

Status MpiWire::test(MpiBatch &batch, bool &done) {
  for (size_t i = 0; i < batch.open_.size();) {
    bool arrived = false;
    MTC_RETURN_IF_ERROR(test(batch.open_[i], arrived));
    if (!arrived) {
      ++i;
      continue;
    }
    batch.open_[i] = batch.open_.back();
    batch.open_.pop_back();
  }
  done = batch.open_.empty();
  return Status::okay();
}

Status MpiWire::await(MpiBatch &batch, std::chrono::milliseconds time,
                      const std::atomic<bool> *stop) {
  auto end = std::chrono::steady_clock::now() + time;
  for (Patience patience;; patience.pause()) {
    bool done = false;
    Status status = test(batch, done);
    if (done || !status.ok())
      return status;
    if (stop && stop->load())
      return {StatusCode::interrupted, "stopped by a signal"};
    if (std::chrono::steady_clock::now() > end)
      return {StatusCode::peerDied,
              fmt::format("no answer over MPI within {:.0f} s",
                          std::chrono::duration<double>(time).count())};
  }
}

void Patience::pause() {
  constexpr int kYields = 64, kLongestMicroseconds = 100;
  if (looks_++ < kYields) {
    sched_yield();
    return;
  }
  int microseconds = std::min(looks_ - kYields, kLongestMicroseconds);
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

} // namespace mtc::runtime::comm

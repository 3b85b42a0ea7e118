//===- schedule.cpp - runs operations in a random legal order -------------===//
#include "test/cuda/driver/schedule.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace mtc::standin {
namespace {

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// How long nobody looks at an operation that was not ready to run: longer and
/// longer until something runs.
constexpr std::chrono::microseconds kPause(20), kLongestPause(160);
/// Of marks: whatever can run.
constexpr uint64_t kAll = ~uint64_t(0);

} // namespace

std::string Operation::name() const {
  return (work ? work->name() : "a point") + " in " + stream;
}

Schedule::Schedule(uint64_t seed, Run run)
    : run(std::move(run)), generator(seed), temper(Temper(generator() % 3)),
      atOnce(uint64_t(2) << 2 * (seed % 3)), rest(kPause) {
  places.push_back({0, 0, "nothing"}); // ids begin with 1
}

OperationPtr Schedule::add(std::string stream, unsigned device,
                           std::unique_ptr<Work> work,
                           const std::vector<OperationPtr> &before) {
  auto made = std::make_shared<Operation>();
  made->id = places.size();
  made->stream = std::move(stream);
  made->device = device;
  made->work = std::move(work);
  made->early = temper == Temper::early ||
                (temper == Temper::mixed && generator() % 2 == 0);
  made->clock = host;
  for (const OperationPtr &each : before) {
    made->clock.join(each->clock);
    if (each->done)
      continue;
    made->before.push_back(each);
    each->after.push_back(made);
    ++made->missing;
  }
  chooseChain(*made, before);
  all[device].join(made->clock);
  ++pendingOf[device];
  places.push_back({made->chain, made->index, made->name()});
  made->place = pending.insert(pending.end(), made);
  if (made->missing == 0)
    ready.push_back(made);
  if (made->work)
    made->work->start();
  while (runAny(0))
    ;
  return made;
}

/// The chain of an operation that is before this one and the last of its chain;
/// best that of the stream. Chains are never more than operations that can run
/// at one time.
void Schedule::chooseChain(Operation &operation,
                           const std::vector<OperationPtr> &before) {
  auto endsBefore = [&](size_t chain) {
    return operation.clock.of(chain) == lengths[chain];
  };
  size_t chain = lengths.size();
  for (const OperationPtr &each : before)
    if (endsBefore(each->chain)) {
      chain = each->chain;
      break;
    }
  for (size_t k = 0; k < lengths.size() && chain == lengths.size(); ++k)
    if (endsBefore(k))
      chain = k;
  if (chain == lengths.size())
    lengths.push_back(0);
  operation.chain = uint32_t(chain);
  operation.index = ++lengths[chain];
  operation.clock.set(chain, operation.index);
}

bool Schedule::runOne(const OperationPtr &operation) {
  Progress progress = Progress::done;
  if (operation->work && !run(*operation, progress))
    return false;
  if (progress == Progress::again)
    return false;
  ended(operation);
  return true;
}

void Schedule::ended(const OperationPtr &operation) {
  if (operation->done)
    return; // another thread abandoned it meanwhile
  operation->done = true;
  operation->endedAt = now();
  rest = kPause;
  operation->work.reset();
  operation->before.clear();
  std::erase(ready, operation);
  for (const OperationPtr &each : operation->after)
    if (--each->missing == 0)
      ready.push_back(each);
  operation->after.clear();
  pending.erase(operation->place);
  --pendingOf[operation->device];
}

/// Runs one operation that is early or wanted, in random order. False: none.
bool Schedule::runAny(uint64_t wanted) {
  std::vector<OperationPtr> able;
  for (const OperationPtr &each : ready)
    if (!each->started &&
        (each->early || wanted == kAll || (wanted && each->wanted == wanted)))
      able.push_back(each);
  std::shuffle(able.begin(), able.end(), generator);
  for (const OperationPtr &each : able)
    if (runOne(each) || pending.empty())
      return true;
  return false;
}

void Schedule::mark(const OperationPtr &target, uint64_t token) {
  std::vector<OperationPtr> open{target};
  while (!open.empty()) {
    OperationPtr each = std::move(open.back());
    open.pop_back();
    if (each->done || each->wanted == token)
      continue;
    each->wanted = token;
    open.insert(open.end(), each->before.begin(), each->before.end());
  }
}

bool Schedule::until(const std::function<bool()> &done,
                     const std::function<void(uint64_t)> &want,
                     std::unique_lock<std::mutex> &lock) {
  double since = now();
  auto pause = kPause;
  uint64_t mine = 0;
  while (!done()) {
    // Marks are lost where another thread has set some meanwhile.
    if (mine == 0 || mine != token)
      want(mine = ++token);
    if (runAny(mine)) {
      since = now();
      pause = kPause;
      continue;
    }
    if (done())
      break;
    if (now() - since > patience)
      return false;
    lock.unlock();
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
    lock.lock();
  }
  return true;
}

bool Schedule::finish(const OperationPtr &target,
                      std::unique_lock<std::mutex> &lock) {
  return until([&] { return target->done; },
               [&](uint64_t mine) { mark(target, mine); }, lock);
}

bool Schedule::finishAll(unsigned device, std::unique_lock<std::mutex> &lock) {
  auto markAll = [&](uint64_t mine) {
    for (const OperationPtr &each : pending)
      if (each->device == device)
        mark(each, mine);
  };
  return until([&] { return pendingOf[device] == 0; }, markAll, lock);
}

void Schedule::nudge(const OperationPtr &target,
                     std::unique_lock<std::mutex> &lock) {
  if (target->done || generator() % 2 == 0)
    return;
  // What is before an operation is known when it is added: marks stay right
  // until others are set.
  if (nudged != target->id || nudgedBy != token) {
    nudged = target->id;
    nudgedBy = ++token;
    mark(target, token);
  }
  // Who asks again and again sleeps in between: several run in one question.
  if (runAny(nudgedBy)) {
    while (!target->done && generator() % atOnce && runAny(nudgedBy))
      ;
    return;
  }
  if (target->done) // another thread ran it
    return;
  const auto pause = rest;
  rest = std::min(2 * rest, kLongestPause);
  lock.unlock();
  std::this_thread::sleep_for(pause);
  lock.lock();
}

void Schedule::runSomething() { runAny(kAll); }

void Schedule::abandon() {
  for (const OperationPtr &each : pending) {
    each->done = true;
    each->before.clear();
    each->after.clear();
    if (!each->started) // who runs it looks at its work
      each->work.reset();
  }
  pending.clear();
  pendingOf.clear();
  ready.clear();
}

bool Schedule::ordered(uint64_t earlier, const Operation &later) const {
  const Place &place = places[earlier];
  return later.clock.of(place.chain) >= place.index;
}

std::string Schedule::describe(uint64_t id) const {
  return "operation " + std::to_string(id) +
         (id < places.size() ? " (" + places[id].name + ")" : "");
}

std::string Schedule::heads() const {
  std::string text;
  for (const OperationPtr &each : ready)
    text += (text.empty() ? "" : "; ") + describe(each->id);
  return text;
}

} // namespace mtc::standin

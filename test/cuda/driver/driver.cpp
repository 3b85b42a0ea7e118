//===- driver.cpp - the state behind the driver API -----------------------===//
#include "test/cuda/driver/driver.h"

#include "test/cuda/driver/calls.h"
#include "test/cuda/driver/gpus.h"
#include "test/cuda/driver/report.h"

#include <chrono>
#include <cstdlib>
#include <pthread.h>
#include <regex>

namespace mtc::standin {
namespace {

/// What the machine lends by itself: shadows take five times as much again.
constexpr double kMostDeviceBytes = 2.0 * (1 << 30);

CUresult resultOf(const ptx::Fault &fault) {
  using enum ptx::FaultKind;
  switch (fault.kind) {
  case nullPointer:
  case outOfBounds:
  case useAfterFree:
  case readOnly:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case misaligned:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case barrierMismatch:
    return CUDA_ERROR_ILLEGAL_INSTRUCTION;
  case endless:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  default:
    return CUDA_ERROR_LAUNCH_FAILED;
  }
}

void atTheEnd() {
  Driver &driver = Driver::get();
  Lock lock(driver.mutex);
  driver.stopping = true;
  if (environment("MTC_STANDIN_GRAPHS", 0))
    report("launched " + std::to_string(driver.graphLaunches) + " graphs of " +
           std::to_string(driver.graphNodes) + " nodes, " +
           std::to_string(driver.graphsAhead) +
           " before the host knew the end of the one before, by " +
           std::to_string(driver.instances) + " instances of " +
           std::to_string(driver.instanceNodes));
  if (environment("MTC_STANDIN_GPUS", 0))
    report(driver.placesOfWork());
  if (environment("MTC_STANDIN_MODULES", 0)) {
    std::string targets;
    for (const std::string &target : driver.targets)
      targets += (targets.empty() ? "" : ", ") + target;
    report("loaded modules for " + targets + " and refused " +
           std::to_string(driver.refusedCubins) + " cubins");
  }
  const char *trace = std::getenv("MTC_STANDIN_TRACE");
  if (driver.trace && trace && !driver.trace->save(trace))
    report(std::string("could not write the trace ") + trace);
  if (!environment("MTC_STANDIN_LEAKS", 0) || driver.sticky)
    return;
  std::string text = driver.space.leaks();
  auto add = [&](size_t count, const char *what) {
    if (count)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
  };
  add(driver.streams.size(), " streams");
  add(driver.events.size(), " events");
  add(driver.modules.size(), " modules");
  add(driver.graphs.size(), " graphs");
  add(driver.execs.size(), " instances of graphs");
  if (!text.empty())
    report("left at the end: " + text);
}

} // namespace

thread_local CUcontext Driver::current = nullptr;
thread_local bool Driver::inCallback = false;

Driver &Driver::get() {
  // Never destroyed: threads may call until the process is gone.
  static Driver *driver = [] {
    auto *made = new Driver;
    std::atexit(atTheEnd);
    // A context does not survive a fork.
    pthread_atfork(nullptr, nullptr, [] {
      Driver &parent = get();
      new (&parent.mutex) std::mutex;
      parent.forked |= parent.initialised;
      parent.initialised = false;
    });
    return made;
  }();
  return *driver;
}

/// Ranks of mtc take turns of their own: orders that all of them share hide
/// that two could wait for each other.
static uint64_t seedOfOrder() {
  return uint64_t(environment("MTC_STANDIN_SEED", 1)) +
         (uint64_t(environment("MTC_RANK", 0)) << 32);
}

Driver::Driver()
    : memory({!environmentHas("MTC_STANDIN_ALLOW", "unwritten_memory"),
              !environmentHas("MTC_STANDIN_ALLOW", "races")}),
      schedule(seedOfOrder(),
               [this](Operation &operation, Progress &progress) {
                 return run(operation, progress);
               }),
      mostDeviceBytes(
          size_t(environment("MTC_STANDIN_MEMORY", kMostDeviceBytes))) {
  schedule.patience = environment("MTC_STANDIN_PATIENCE", 30);
  memory.setOrder([this](uint64_t id) {
    return !running || schedule.ordered(id, *running);
  });
  auto allows = [](const char *word) {
    return environmentHas("MTC_STANDIN_ALLOW", word);
  };
  launchOptions.readUnwrittenShared = allows("unwritten_shared");
  // LLVM packs halves of which it knows that nobody looks at them.
  launchOptions.readUnwrittenHalves =
      !environmentHas("MTC_STANDIN_REFUSE", "unwritten_registers");
  if (const char *kernel = std::getenv("MTC_STANDIN_TRACE_KERNEL")) {
    tracedKernel = kernel;
    int line = int(environment("MTC_STANDIN_TRACE_LINE", 0));
    trace = std::make_unique<ptx::Trace>(line);
  }
  launchOptions.endedThreadsArrive = allows("ended_threads");
  launchOptions.racesInsideWarps = !allows("warp_races");
  rules.refuseFlushToZero = environmentHas("MTC_STANDIN_REFUSE", "ftz");
  rules.refuseApproximate = environmentHas("MTC_STANDIN_REFUSE", "approx");
  rules.refuseContractable =
      environmentHas("MTC_STANDIN_REFUSE", "contractable");
  contexts = visibleGpus();
}

CUstream Driver::makeStream(CUcontext context, unsigned flags, int priority) {
  auto made = std::make_unique<CUstream_st>();
  made->context = context;
  made->number = ++streamsMade;
  made->name = "stream " + std::to_string(made->number);
  if (contexts.size() > 1)
    made->name += " of device " + std::to_string(context->device);
  made->blocking = !(flags & CU_STREAM_NON_BLOCKING);
  made->priority = priority;
  return streams.add(std::move(made));
}

CUresult Driver::resolve(CUstream handle, CUstream &stream) {
  if (handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
    stream = handle;
    return streams.has(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  }
  if (!current)
    return CUDA_ERROR_INVALID_CONTEXT;
  stream = &current->legacy;
  if (handle == CU_STREAM_PER_THREAD) {
    auto &own = current->perThread[std::this_thread::get_id()];
    if (!own) {
      own = std::make_unique<CUstream_st>();
      own->context = current;
      own->name = "the stream of a thread";
      own->blocking = true;
    }
    stream = own.get();
  }
  return CUDA_SUCCESS;
}

CUresult Driver::checkLegacy(CUstream stream) {
  return isLegacy(stream) ? captures.refuseImplicit(stream->context)
                          : CUDA_SUCCESS;
}

CUresult Driver::submit(CUstream stream, std::unique_ptr<Work> work) {
  work->context = stream->context;
  if (notesCalls())
    noteCall(stream->name + (stream->capture ? ", captured" : ""),
             work->facts());
  if (stream->capture)
    return captures.add(*this, stream, std::move(work));
  if (CUresult wrong = checkLegacy(stream))
    return wrong;
  enqueue(stream, std::move(work));
  return CUDA_SUCCESS;
}

std::vector<OperationPtr> Driver::behind(CUstream stream) {
  std::vector<OperationPtr> list;
  auto add = [&](const CUstream_st &each) {
    if (each.last)
      list.push_back(each.last);
  };
  add(*stream);
  if (stream->blocking)
    add(stream->context->legacy);
  if (!isLegacy(stream))
    return list;
  for (CUstream each : streams.all())
    if (each->blocking && each->context == stream->context)
      add(*each);
  for (const auto &[thread, each] : stream->context->perThread)
    add(*each);
  return list;
}

OperationPtr Driver::enqueue(CUstream stream, std::unique_ptr<Work> work,
                             const std::vector<OperationPtr> &before) {
  std::vector<OperationPtr> all = behind(stream);
  all.insert(all.end(), before.begin(), before.end());
  // Early operations run within add, and their stream may be asked for then.
  stream->last =
      schedule.add(stream->name, stream->context->device, std::move(work), all);
  return stream->last;
}

CUresult Driver::wait(const OperationPtr &operation, Lock &lock, bool known) {
  if (sticky || !operation)
    return sticky;
  if (!operation->done && !schedule.finish(operation, lock))
    tellStuck();
  if (known && !sticky)
    schedule.hostKnows(*operation);
  return sticky;
}

CUresult Driver::waitAll(CUcontext context, Lock &lock, bool known) {
  if (sticky)
    return sticky;
  if (!schedule.finishAll(context->device, lock))
    tellStuck();
  if (known && !sticky)
    schedule.hostKnowsAll(context->device);
  return sticky;
}

void Driver::tellStuck() {
  fail(CUDA_ERROR_LAUNCH_TIMEOUT,
       "a wait that does not end; at the heads of streams: " +
           schedule.heads());
}

void Driver::begin() {
  if (running && memory.operation().id != running->id)
    memory.begin({running->id, running->chain % ptx::Memory::kStreams});
}

std::byte *Driver::touch(uint64_t address, size_t bytes, ptx::Access access,
                         const std::string &who,
                         std::optional<ptx::Fault> &fault) {
  std::byte *host = nullptr;
  begin();
  fault = memory.touch(address, bytes, access, who, &host);
  return host;
}

bool Driver::run(Operation &operation, Progress &progress) {
  if (sticky)
    return false; // what was issued in the call that failed
  Operation *outer = running;
  running = &operation;
  std::optional<ptx::Fault> fault;
  CUcontext context = operation.work->context;
  memory.setReach(operation.work->reach());
  progress = operation.work->run(fault);
  context->operations += progress == Progress::done;
  running = outer;
  if (!fault)
    return true;
  fail(resultOf(*fault), "in " + schedule.describe(operation.id) + ": " +
                             withNames(ptx::describe(*fault)));
  return false;
}

/// Operations by name where the executor has their numbers.
std::string Driver::withNames(std::string sentence) const {
  static const std::regex number("operation ([0-9]+)");
  std::string named;
  std::smatch found;
  while (std::regex_search(sentence, found, number)) {
    named += found.prefix();
    named += schedule.describe(std::stoull(found[1]));
    sentence = found.suffix();
  }
  return named + sentence;
}

void Driver::callHost(void (*function)(void *), void *data) {
  Operation *mine = running;
  mine->started = true;
  running = nullptr;
  mutex.unlock();
  inCallback = true;
  function(data);
  inCallback = false;
  mutex.lock();
  running = mine;
  ++hostCalls;
}

void Driver::startIdleThread() {
  using std::chrono::duration, std::this_thread::sleep_for;
  double idle = environment("MTC_STANDIN_IDLE", 1);
  if (idle <= 0)
    return;
  auto loop = [this, idle] {
    Lock lock(mutex);
    while (!stopping) {
      uint64_t seen = calls;
      lock.unlock();
      sleep_for(duration<double>(idle));
      lock.lock();
      while (!stopping && !sticky && calls == seen && !schedule.idle()) {
        schedule.runSomething();
        lock.unlock();
        sleep_for(std::chrono::milliseconds(1));
        lock.lock();
      }
    }
  };
  std::thread(loop).detach();
}

void Driver::fail(CUresult result, const std::string &sentence) {
  report(sentence);
  if (!sticky)
    sticky = result;
  schedule.abandon();
}

} // namespace mtc::standin

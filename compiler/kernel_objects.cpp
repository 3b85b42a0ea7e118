//===- kernel_objects.cpp - machine code of a plan's kernels --------------===//

#include "compiler/kernel_objects.h"

#include "dialects/mtc/Mtc.h"

#include "mlir/Support/Timing.h"

#include <algorithm>

using mtc::runtime::Status;

namespace mtc::compiler {

/// Few, so that no processor waits long for the last object of another.
constexpr size_t kKernelsOfAnObject = 6;

/// About how long the code of a group takes.
static size_t operationsOf(const KernelGroup &group) {
  size_t count = 0;
  for (const NamedKernel &named : group.kernels)
    named.kernel->walk([&](mlir::Operation *) { ++count; });
  return count;
}

static std::vector<size_t> orderByLength(const SharedKernels &shared) {
  std::vector<size_t> counts, order;
  for (const KernelGroup &group : shared.groups) {
    order.push_back(counts.size());
    counts.push_back(operationsOf(group));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  return order;
}

KernelObjects::KernelObjects(mlir::ModuleOp module, IRCheck check) {
  std::vector<rt::ProgramOp> programs = programsByStage(module);
  TargetAttr target = configOf(module)->getTarget();
  if (target.getDevice() != "cpu") {
    shared.names.resize(programs.size());
    return;
  }
  shared = shareKernels(programs, kKernelsOfAnObject);
  longestFirst = orderByLength(shared);
  for (const KernelGroup &group : shared.groups) {
    ObjectJob &job = objects.emplace_back().job;
    job.kernels = group.kernels;
    job.isa = target.getIsa().str();
    job.threads = target.getThreads();
    job.check = check;
  }
}

KernelObjects::~KernelObjects() {
  join();
  if (thread.joinable())
    thread.join();
}

void KernelObjects::begin(mlir::TimingScope &timing) {
  thread = std::thread([this, &timing] {
    mlir::TimingScope scope = timing.nest("kernels, beside verify-plan");
    for (size_t group : longestFirst)
      if (claim(objects[group], /*isEarly=*/true))
        make(objects[group], scope);
  });
}

void KernelObjects::join() {
  std::lock_guard lock(mutex);
  isJoined = true;
}

bool KernelObjects::claim(Object &object, bool isEarly) {
  std::lock_guard lock(mutex);
  if (object.isTaken || (isEarly && isJoined))
    return false;
  return object.isTaken = true;
}

void KernelObjects::make(Object &object, mlir::TimingScope &timing) {
  std::string bytes;
  Status status = makeObject(object.job, timing, bytes);
  std::lock_guard lock(mutex);
  object.status = std::move(status);
  object.bytes = std::move(bytes);
  object.isMade = true;
  made.notify_all();
}

Status KernelObjects::take(size_t group, mlir::TimingScope &timing,
                           std::string &bytes) {
  Object &object = objects[group];
  if (claim(object, /*isEarly=*/false))
    make(object, timing);
  std::unique_lock lock(mutex);
  made.wait(lock, [&] { return object.isMade; });
  bytes = std::move(object.bytes);
  return std::move(object.status);
}

} // namespace mtc::compiler

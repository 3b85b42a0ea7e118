//===- machine.cpp - all ranks of a plan, a fragment at a time ------------===//
#include "machine.h"

#include "compiler/descriptor.h"
#include "compiler/link/link.h"
#include "compiler/output_folder.h"
#include "compiler/parallel.h"
#include "compiler/read_plan.h"
#include "compiler/stage.h"

#include "mlir/Support/Timing.h"

#include <fmt/format.h>

#include <thread>

using namespace mtc::runtime;

namespace mtc::test {
namespace {

using compiler::ObjectJob;

/// Two objects a stage: kernels, and fragments with their tables.
std::vector<ObjectJob> objectJobs(mlir::ModuleOp module,
                                  const compiler::BundlePlan &plan) {
  std::vector<ObjectJob> jobs;
  for (auto [program, stage] :
       llvm::zip_equal(compiler::programsByStage(module), plan.programs)) {
    std::vector<compiler::NamedKernel> kernels;
    for (auto kernel : program.getOps<rt::KernelOp>())
      kernels.push_back({kernel, kernel.getSymName().str()});
    ObjectJob &ofKernels = jobs.emplace_back();
    ofKernels.kernels = std::move(kernels);
    ofKernels.isa = plan.config.isa;
    ObjectJob &ofFragments = jobs.emplace_back();
    ofFragments.program = program;
    ofFragments.plan = &stage;
    ofFragments.descriptor = compiler::describe(plan, stage).dump();
    ofFragments.isa = plan.config.isa;
  }
  return jobs;
}

Status writeObject(const ObjectJob &job, const std::string &path) {
  mlir::TimingScope untimed;
  std::string bytes;
  MTC_RETURN_IF_ERROR(compiler::makeObject(job, untimed, bytes));
  return compiler::writeFile(path, bytes);
}

} // namespace

Status Machine::compileStages(mlir::ModuleOp module,
                              const std::string &folder) {
  compiler::BundlePlan plan;
  MTC_RETURN_IF_ERROR(compiler::readPlan(module, plan));
  std::vector<ObjectJob> jobs = objectJobs(module, plan);
  mlir::MLIRContext &context = *module.getContext();
  compiler::loadCodeDialects(context);
  std::vector<std::string> objects;
  for (size_t i = 0; i < jobs.size(); ++i)
    objects.push_back(fmt::format("{}/{}.o", folder, i));
  MTC_RETURN_IF_ERROR(compiler::forEachJob(context, jobs.size(), [&](size_t i) {
    return writeObject(jobs[i], objects[i]);
  }));
  compiler::Toolchain toolchain;
  MTC_RETURN_IF_ERROR(compiler::findToolchain(toolchain));
  for (size_t i = 0; i < jobs.size(); i += 2) {
    std::string shared = objects[i + 1] + ".so";
    MTC_RETURN_IF_ERROR(
        compiler::linkShared(toolchain, {objects[i], objects[i + 1]}, shared));
    MTC_RETURN_IF_ERROR(openSharedProgram(shared, programs.emplace_back()));
    MTC_RETURN_IF_ERROR(parseDescriptor(programs.back().descriptor,
                                        descriptors.emplace_back()));
  }
  return Status::okay();
}

Status Machine::startRank(int rank) {
  const Descriptor &d = descriptors[stageOf(rank)];
  std::unique_ptr<Device> &device = devices.emplace_back();
  MTC_RETURN_IF_ERROR(makeDevice({rank, {}, d.arenas, {}}, device));
  MTC_RETURN_IF_ERROR(device->prepare(d));
  RankParts parts{programs[stageOf(rank)], d, rank, device.get(),
                  &device->issuing(world->join(rank, device->arenas()))};
  return RankState::create(std::move(parts), ranks.emplace_back());
}

Status Machine::start() {
  WorldRequest request;
  request.mesh = descriptors.front().mesh;
  MTC_RETURN_IF_ERROR(makeWorld(CommKind::threads, request, world));
  for (int rank = 0; rank < request.mesh.worldSize(); ++rank)
    MTC_RETURN_IF_ERROR(startRank(rank));
  return Status::okay();
}

Status Machine::create(mlir::ModuleOp module, const std::string &folder,
                       std::unique_ptr<Machine> &out) {
  auto machine = std::make_unique<Machine>();
  MTC_RETURN_IF_ERROR(machine->compileStages(module, folder));
  MTC_RETURN_IF_ERROR(machine->start());
  out = std::move(machine);
  return Status::okay();
}

Status Machine::runOn(int rank, const std::string &fragment) {
  const std::vector<std::string> &names = descriptors[stageOf(rank)].fragments;
  auto index = std::find(names.begin(), names.end(), fragment) - names.begin();
  static constexpr int32_t kFirst[MTC_POOL_LIMIT] = {}; // slot 0 of each pool
  ranks[rank]->context().slots = kFirst;
  MtcStep row{};
  row.kind = MTC_STEP_RUN;
  row.microbatch = 1; // what the first stores it does not read
  row.last = 1;       // what counts does
  row.fragment = static_cast<int32_t>(index);
  MTC_RETURN_IF_ERROR(ranks[rank]->stream().launch(
      programs[stageOf(rank)].fragments[index], &ranks[rank]->context(), &row));
  return ranks[rank]->complete();
}

Status Machine::run(const Case &which, std::span<const int> on) {
  std::vector<Status> results(on.size());
  auto runAt = [&](size_t i) {
    results[i] = runOn(on[i], which.stages.at(stageOf(on[i])).fragment);
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < on.size(); ++i)
    if (which.isCollective())
      threads.emplace_back(runAt, i);
    else
      runAt(i);
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &result : results)
    MTC_RETURN_IF_ERROR(result);
  return Status::okay();
}

} // namespace mtc::test

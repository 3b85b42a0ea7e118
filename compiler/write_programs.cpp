//===- write_programs.cpp - a plan to executables -------------------------===//

#include "compiler/write_programs.h"

#include "compiler/descriptor.h"
#include "compiler/kernel_objects.h"
#include "compiler/kernel_sets.h"
#include "compiler/link/program_links.h"
#include "compiler/output_folder.h"
#include "compiler/parallel.h"
#include "compiler/shared_fragments.h"
#include "compiler/stage.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"

#include <atomic>
#include <filesystem>

#include <fmt/format.h>

using mtc::runtime::Status;

namespace mtc::compiler {
namespace {

/// A file to make, and the programs, by index, that are linked with it.
struct Object {
  std::string path;
  std::vector<size_t> programs;
  std::function<Status(mlir::TimingScope &, std::string &bytes)> make;
};

/// The programs of a plan. Every kernel is in one object, which all stages are
/// linked with that have it, and so are the fragments of like stages.
class ProgramWriter {
public:
  ProgramWriter(mlir::ModuleOp module, const BundlePlan &plan,
                const std::string &folder, IRCheck check,
                KernelObjects &kernels, mlir::TimingScope &timing)
      : kernels(kernels), folder(folder), timing(timing) {
    std::vector<rt::ProgramOp> programs = programsByStage(module);
    for (size_t i = 0; i < programs.size(); ++i) {
      const ProgramPlan &of = plan.programs[i];
      ObjectJob &job = fragments.emplace_back();
      job.program = programs[i];
      job.plan = &of;
      job.descriptor = describe(plan, of).dump();
      job.runtimeKernels = runtimeKernelsOf(plan.config, programs[i], of);
      job.names = kernels.kernels().names[i];
      job.isa = plan.config.isa;
      job.threads = plan.config.threads;
      job.check = check;
    }
  }

  /// Objects, and each program once it has all of its own.
  Status write(mlir::MLIRContext &context, LinkHelpers *helpers,
               const std::function<Status()> &meanwhile, DiagnosticLog &log) {
    Toolchain toolchain; // which helpers find again
    MTC_RETURN_IF_ERROR(findToolchain(toolchain));
    loadCodeDialects(context);
    MTC_RETURN_IF_ERROR(listObjects(context, log));
    if (helpers && fragments.size() < helpers->size())
      forms = {LinkForm::executable, LinkForm::shared};
    ProgramLinks links(toolchain, linkJobs(), helpers);
    MTC_RETURN_IF_ERROR(makeAll(context, links, log));
    MTC_RETURN_IF_ERROR(meanwhile());
    {
      mlir::TimingScope scope = timing.nest("link");
      MTC_RETURN_IF_ERROR(links.finish());
    }
    std::error_code error;
    for (const Object &object : objects)
      std::filesystem::remove(object.path, error);
    return Status::okay();
  }

private:
  Object &add(const std::string &name, std::vector<size_t> programs) {
    Object &object = objects.emplace_back();
    object.path = fmt::format("{}/{}.o", folder, name);
    object.programs = std::move(programs);
    return object;
  }

  /// Kernels in front, they take long.
  Status listObjects(mlir::MLIRContext &context, DiagnosticLog &log) {
    mlir::TimingScope scope = timing.nest("objects");
    const std::vector<KernelGroup> &groups = kernels.kernels().groups;
    for (size_t group : kernels.order())
      add(fmt::format("kernels{}", group), groups[group].programs).make =
          [this, group](mlir::TimingScope &timing, std::string &bytes) {
            return kernels.take(group, timing, bytes);
          };
    MTC_RETURN_IF_ERROR(
        withDiagnostics(shared.find(context, fragments, scope), log));
    std::vector<bool> isDone(fragments.size());
    for (size_t group = 0; group < shared.size(); ++group)
      for (size_t program : addShared(group))
        isDone[program] = true;
    for (size_t program = 0; program < fragments.size(); ++program)
      if (!isDone[program])
        addOwn(program);
    return Status::okay();
  }

  void addOwn(size_t program) {
    const ObjectJob &job = fragments[program];
    add(fmt::format("stage{}", job.plan->stage()), {program}).make =
        [&job](mlir::TimingScope &timing, std::string &bytes) {
          return makeObject(job, timing, bytes);
        };
  }

  /// Its programs.
  llvm::ArrayRef<size_t> addShared(size_t group) {
    llvm::ArrayRef<size_t> programs = shared.programs(group);
    add(fmt::format("fragments{}", group), programs.vec()).make =
        [this, group](mlir::TimingScope &timing, std::string &bytes) {
          return shared.makeCode(group, timing, bytes);
        };
    for (size_t place = 0; place < programs.size(); ++place)
      add(fmt::format("stage{}", fragments[programs[place]].plan->stage()),
          {programs[place]})
          .make = [=, this](mlir::TimingScope &timing, std::string &bytes) {
        return shared.makeTables(group, place, timing, bytes);
      };
    return programs;
  }

  /// By program, and of each by form.
  std::vector<LinkJob> linkJobs() const {
    std::vector<LinkJob> jobs;
    for (const ObjectJob &of : fragments)
      for (LinkForm form : forms)
        jobs.push_back(
            {folder + "/" + programFile(of.plan->stage()), {}, form});
    for (const Object &object : objects)
      for (size_t program : object.programs)
        for (size_t form = 0; form < forms.size(); ++form)
          jobs[program * forms.size() + form].objects.push_back(object.path);
    return jobs;
  }

  Status makeAll(mlir::MLIRContext &context, ProgramLinks &links,
                 DiagnosticLog &log) {
    mlir::TimingScope scope = timing.nest("objects");
    std::vector<std::atomic<size_t>> missing(fragments.size());
    for (const Object &object : objects)
      for (size_t program : object.programs)
        ++missing[program];
    kernels.join();
    auto make = [&](size_t i) {
      std::string bytes;
      MTC_RETURN_IF_ERROR(objects[i].make(scope, bytes));
      MTC_RETURN_IF_ERROR(writeFile(objects[i].path, bytes));
      for (size_t program : objects[i].programs)
        if (--missing[program] == 0)
          for (size_t form = 0; form < forms.size(); ++form)
            links.ready(program * forms.size() + form);
      return Status::okay();
    };
    return withDiagnostics(forEachJob(context, objects.size(), make), log);
  }

  KernelObjects &kernels;
  const std::string &folder;
  std::vector<ObjectJob> fragments; ///< by program
  SharedFragments shared;
  std::vector<Object> objects;
  /// Side by side, where helpers would have nothing else to do.
  std::vector<LinkForm> forms = {LinkForm::both};
  mlir::TimingScope &timing;
};

} // namespace

Status writePrograms(mlir::ModuleOp module, const BundlePlan &plan,
                     const std::string &folder, IRCheck check,
                     KernelObjects &kernels, LinkHelpers *helpers,
                     const std::function<Status()> &meanwhile,
                     DiagnosticLog &log, mlir::TimingScope &timing) {
  return ProgramWriter(module, plan, folder, check, kernels, timing)
      .write(*module.getContext(), helpers, meanwhile, log);
}

} // namespace mtc::compiler

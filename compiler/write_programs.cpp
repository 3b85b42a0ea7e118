//===- write_programs.cpp - a plan to executables -------------------------===//

#include "compiler/write_programs.h"

#include "compiler/descriptor.h"
#include "compiler/kernel_objects.h"
#include "compiler/link/program_links.h"
#include "compiler/output_folder.h"
#include "compiler/parallel.h"
#include "compiler/stage.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"

#include <atomic>
#include <filesystem>

#include <fmt/format.h>

using mtc::runtime::Status;

namespace mtc::compiler {
namespace {

/// The programs of a plan. Every kernel is in one object, which all stages are
/// linked with that have it.
class ProgramWriter {
public:
  ProgramWriter(mlir::ModuleOp module, const BundlePlan &plan,
                const std::string &folder, IRCheck check,
                KernelObjects &kernels, mlir::TimingScope &timing)
      : programs(programsByStage(module)), kernels(kernels), plan(plan),
        folder(folder), check(check), linkJobs(programs.size()),
        timing(timing) {
    for (const KernelGroup &group : kernels.kernels().groups)
      addKernels(group);
    for (size_t i = 0; i < programs.size(); ++i)
      addFragments(i);
  }

  /// Objects, and each program once it has all of its own.
  Status write(mlir::MLIRContext &context, LinkHelpers *helpers,
               const std::function<Status()> &meanwhile, DiagnosticLog &log) {
    Toolchain toolchain; // which helpers find again
    MTC_RETURN_IF_ERROR(findToolchain(toolchain));
    loadCodeDialects(context);
    if (helpers && programs.size() < helpers->size())
      forms = {LinkForm::executable, LinkForm::shared};
    ProgramLinks links(toolchain, jobsByForm(), helpers);
    MTC_RETURN_IF_ERROR(compileAll(context, links, log));
    MTC_RETURN_IF_ERROR(meanwhile());
    {
      mlir::TimingScope scope = timing.nest("link");
      MTC_RETURN_IF_ERROR(links.finish());
    }
    std::error_code error;
    for (const ObjectJob &object : objects)
      std::filesystem::remove(object.object, error);
    return Status::okay();
  }

private:
  ObjectJob &addObject(const std::string &name) {
    ObjectJob &object = objects.emplace_back();
    object.object = fmt::format("{}/{}.o", folder, name);
    return object;
  }

  void addKernels(const KernelGroup &group) {
    ObjectJob &object = addObject(fmt::format("kernels{}", objects.size()));
    for (size_t program : group.programs)
      isPartOf(object, program);
  }

  void addFragments(size_t program) {
    const ProgramPlan &of = plan.programs[program];
    ObjectJob &object = addObject(fmt::format("stage{}", of.stage()));
    object.isa = plan.config.isa;
    object.threads = plan.config.threads;
    object.check = check;
    object.program = programs[program];
    object.plan = &of;
    object.descriptor = describe(plan, of).dump();
    object.names = kernels.kernels().names[program];
    linkJobs[program].file = folder + "/" + programFile(of.stage());
    isPartOf(object, program);
  }

  /// Of the object that was added last.
  void isPartOf(const ObjectJob &object, size_t program) {
    linkJobs[program].objects.push_back(object.object);
    programsOf.resize(objects.size());
    programsOf.back().push_back(program);
  }

  /// By program, and of each by form.
  std::vector<LinkJob> jobsByForm() const {
    std::vector<LinkJob> jobs;
    for (const LinkJob &job : linkJobs)
      for (LinkForm form : forms)
        jobs.push_back({job.file, job.objects, form});
    return jobs;
  }

  /// Kernels lie in front.
  Status compile(size_t object, mlir::TimingScope &scope) {
    if (object >= kernels.kernels().groups.size())
      return compileObject(objects[object], scope);
    std::string bytes;
    MTC_RETURN_IF_ERROR(kernels.take(object, scope, bytes));
    return writeFile(objects[object].object, bytes);
  }

  Status compileAll(mlir::MLIRContext &context, ProgramLinks &links,
                    DiagnosticLog &log) {
    mlir::TimingScope scope = timing.nest("objects");
    std::vector<std::atomic<size_t>> missing(programs.size());
    for (size_t program = 0; program < programs.size(); ++program)
      missing[program] = linkJobs[program].objects.size();
    kernels.join();
    auto compileJob = [&](size_t job) {
      const std::vector<size_t> &order = kernels.order();
      size_t i = job < order.size() ? order[job] : job;
      MTC_RETURN_IF_ERROR(compile(i, scope));
      for (size_t program : programsOf[i])
        if (--missing[program] == 0)
          for (size_t form = 0; form < forms.size(); ++form)
            links.ready(program * forms.size() + form);
      return Status::okay();
    };
    return withDiagnostics(forEachJob(context, objects.size(), compileJob),
                           log);
  }

  std::vector<rt::ProgramOp> programs;
  KernelObjects &kernels;
  const BundlePlan &plan;
  const std::string &folder;
  IRCheck check;
  std::vector<ObjectJob> objects; ///< kernels first, they take long
  std::vector<std::vector<size_t>> programsOf; ///< by object
  std::vector<LinkJob> linkJobs;               ///< by program
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

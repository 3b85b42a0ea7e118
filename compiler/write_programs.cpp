//===- write_programs.cpp - a plan to executables -------------------------===//

#include "compiler/write_programs.h"

#include "compiler/descriptor.h"
#include "compiler/link/link.h"
#include "compiler/parallel.h"
#include "compiler/shared_kernels.h"
#include "compiler/stage.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"

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
                mlir::TimingScope &timing)
      : programs(programsByStage(module)), kernels(shareKernels(programs)),
        plan(plan), folder(folder), check(check), objectsOf(programs.size()),
        timing(timing) {
    for (const KernelGroup &group : kernels.groups)
      addKernels(group);
    for (size_t i = 0; i < programs.size(); ++i)
      addFragments(i);
  }

  /// Objects, then links: LLD resets options of LLVM, which code is made with.
  Status write(mlir::MLIRContext &context, DiagnosticLog &log) {
    MTC_RETURN_IF_ERROR(findToolchain(toolchain));
    loadCodeDialects(context);
    MTC_RETURN_IF_ERROR(compileAll(context, log));
    mlir::TimingScope scope = timing.nest("link");
    MTC_RETURN_IF_ERROR(forEachJob(context, programs.size(),
                                   [&](size_t i) { return link(i); }));
    std::error_code error;
    for (const ObjectJob &object : objects)
      std::filesystem::remove(object.object, error);
    return Status::okay();
  }

private:
  ObjectJob &addObject(const std::string &name) {
    ObjectJob &object = objects.emplace_back();
    object.isa = plan.config.isa;
    object.check = check;
    object.object = fmt::format("{}/{}.o", folder, name);
    return object;
  }

  void addKernels(const KernelGroup &group) {
    ObjectJob &object = addObject(fmt::format("kernels{}", objects.size()));
    object.kernels = group.kernels;
    for (size_t program : group.programs)
      objectsOf[program].push_back(object.object);
  }

  void addFragments(size_t program) {
    const ProgramPlan &of = plan.programs[program];
    ObjectJob &object = addObject(fmt::format("stage{}", of.stage()));
    object.program = programs[program];
    object.plan = &of;
    object.descriptor = describe(plan, of).dump();
    object.names = kernels.names[program];
    objectsOf[program].push_back(object.object);
  }

  Status compileAll(mlir::MLIRContext &context, DiagnosticLog &log) {
    mlir::TimingScope scope = timing.nest("objects");
    auto compileJob = [&](size_t i) {
      return compileObject(objects[i], scope);
    };
    return withDiagnostics(forEachJob(context, objects.size(), compileJob),
                           log);
  }

  Status link(size_t program) {
    std::string file =
        folder + "/" + programFile(plan.programs[program].stage());
    MTC_RETURN_IF_ERROR(linkExecutable(toolchain, objectsOf[program], file));
    return linkShared(toolchain, objectsOf[program], file + ".so");
  }

  std::vector<rt::ProgramOp> programs;
  SharedKernels kernels;
  const BundlePlan &plan;
  const std::string &folder;
  IRCheck check;
  std::vector<ObjectJob> objects; ///< kernels first, they take long
  std::vector<std::vector<std::string>> objectsOf; ///< paths, by program
  Toolchain toolchain;
  mlir::TimingScope &timing;
};

} // namespace

Status writePrograms(mlir::ModuleOp module, const BundlePlan &plan,
                     const std::string &folder, IRCheck check,
                     DiagnosticLog &log, mlir::TimingScope &timing) {
  return ProgramWriter(module, plan, folder, check, timing)
      .write(*module.getContext(), log);
}

} // namespace mtc::compiler

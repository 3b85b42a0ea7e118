//===- shared_fragments.cpp - code that like stages have in common --------===//

#include "compiler/shared_fragments.h"

#include "compiler/object.h"
#include "compiler/parallel.h"
#include "compiler/tables.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Support/Timing.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace llvmir = mlir::LLVM;

namespace mtc::compiler {
namespace {

/// What must be equal for code to be: the ops of all fragments, and what they
/// launch. It is cheap, and most of what it takes for alike is.
std::string outlineOf(const ObjectJob &job) {
  rt::ProgramOp program = job.program;
  std::string outline;
  for (auto function : program.getOps<mlir::func::FuncOp>())
    function.walk([&](mlir::Operation *op) {
      outline += op->getName().getStringRef();
      if (auto launch = llvm::dyn_cast<rt::LaunchOp>(op)) {
        auto at = job.names.find(launch.getKernel());
        outline +=
            at == job.names.end() ? launch.getKernel().str() : at->second;
      }
      outline += '\n';
    });
  return outline;
}

/// Groups of two at least, in the order of their first.
std::vector<std::vector<size_t>>
groupByOutline(llvm::ArrayRef<ObjectJob> jobs) {
  std::map<std::string, size_t> numbers; // looked up only
  std::vector<std::vector<size_t>> all;
  for (size_t i = 0; i < jobs.size(); ++i) {
    auto [at, isNew] = numbers.try_emplace(outlineOf(jobs[i]), all.size());
    if (isNew)
      all.emplace_back();
    all[at->second].push_back(i);
  }
  std::erase_if(all, [](const auto &group) { return group.size() < 2; });
  return all;
}

/// Names the fragments of a program as those of another, which has as many.
void renameAs(const ProgramPlan &first, const ProgramPlan &own,
              mlir::ModuleOp fragments) {
  for (size_t i = 0; i < own.fragments.size(); ++i)
    if (auto function =
            fragments.lookupSymbol<llvmir::LLVMFuncOp>(own.fragments[i].name))
      function.setSymName(first.fragments[i].name);
}

/// Fragments that another object has.
void declare(const ProgramPlan &program, mlir::ModuleOp module) {
  mlir::OpBuilder b = mlir::OpBuilder::atBlockEnd(module.getBody());
  auto pointer = llvmir::LLVMPointerType::get(b.getContext());
  auto type = llvmir::LLVMFunctionType::get(
      llvmir::LLVMVoidType::get(b.getContext()), {pointer, pointer});
  for (const PlanFragment &fragment : program.fragments)
    llvmir::LLVMFuncOp::create(b, module.getLoc(), fragment.name, type)
        .setVisibility_(llvmir::Visibility::Hidden);
}

} // namespace

Status SharedFragments::lowerFirst(Group &group, mlir::TimingScope &timing) {
  MTC_RETURN_IF_ERROR(
      lowerFragments(jobs[group.programs.front()], timing, group.skeleton));
  group.numbers.front() = takeNumbers(*group.skeleton);
  group.isAlike.front() = true;
  return Status::okay();
}

Status SharedFragments::compare(Group &group, size_t place,
                                mlir::TimingScope &timing) {
  const ObjectJob &first = jobs[group.programs.front()],
                  &own = jobs[group.programs[place]];
  if (own.plan->fragments.size() != first.plan->fragments.size())
    return Status::okay();
  mlir::OwningOpRef<mlir::ModuleOp> skeleton;
  MTC_RETURN_IF_ERROR(lowerFragments(own, timing, skeleton));
  renameAs(*first.plan, *own.plan, *skeleton);
  group.numbers[place] = takeNumbers(*skeleton);
  group.isAlike[place] = areAlike(*group.skeleton, *skeleton);
  return Status::okay();
}

std::vector<size_t> SharedFragments::keepAlike(Group &group) {
  std::vector<size_t> kept, others;
  std::vector<FragmentNumbers> numbers;
  for (size_t place = 0; place < group.programs.size(); ++place)
    if (group.isAlike[place]) {
      kept.push_back(group.programs[place]);
      numbers.push_back(std::move(group.numbers[place]));
    } else {
      others.push_back(group.programs[place]);
    }
  group.programs = std::move(kept);
  group.numbers = std::move(numbers);
  group.isAlike.clear();
  group.different = findDifferent(*group.skeleton, group.numbers);
  return others;
}

/// The first of each group, then the others with it.
Status SharedFragments::compareAll(mlir::MLIRContext &context,
                                   std::vector<Group> &all,
                                   mlir::TimingScope &timing) {
  std::vector<std::pair<size_t, size_t>> others; // group and place
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t place = 1; place < all[i].programs.size(); ++place)
      others.emplace_back(i, place);
  MTC_RETURN_IF_ERROR(forEachJob(context, all.size(), [&](size_t i) {
    return lowerFirst(all[i], timing);
  }));
  return forEachJob(context, others.size(), [&](size_t i) {
    return compare(all[others[i].first], others[i].second, timing);
  });
}

Status SharedFragments::find(mlir::MLIRContext &context,
                             llvm::ArrayRef<ObjectJob> ofPrograms,
                             mlir::TimingScope &timing) {
  jobs = ofPrograms;
  // Each round, those that are not as the first are compared with each other.
  for (std::vector<std::vector<size_t>> open = groupByOutline(jobs);
       !open.empty();) {
    std::vector<Group> round(open.size());
    for (size_t i = 0; i < open.size(); ++i) {
      round[i].numbers.resize(open[i].size());
      round[i].isAlike.resize(open[i].size());
      round[i].programs = std::move(open[i]);
    }
    open.clear();
    MTC_RETURN_IF_ERROR(compareAll(context, round, timing));
    for (Group &group : round) {
      if (std::vector<size_t> others = keepAlike(group); others.size() > 1)
        open.push_back(std::move(others));
      if (group.programs.size() > 1)
        groups.push_back(std::move(group));
    }
  }
  std::sort(groups.begin(), groups.end(), [](const Group &a, const Group &b) {
    return a.programs.front() < b.programs.front();
  });
  return Status::okay();
}

Status SharedFragments::makeCode(size_t index, mlir::TimingScope &timing,
                                 std::string &bytes) {
  Group &group = groups[index];
  const ObjectJob &first = jobs[group.programs.front()];
  putNumbers(*group.skeleton, group.numbers.front(), group.different);
  for (const PlanFragment &fragment : first.plan->fragments) {
    if (auto function =
            group.skeleton->lookupSymbol<llvmir::LLVMFuncOp>(fragment.name))
      function.setVisibility_(llvmir::Visibility::Hidden);
  }
  return makeFragmentObject(*group.skeleton, first.isa, timing, bytes);
}

Status SharedFragments::makeTables(size_t index, size_t place,
                                   mlir::TimingScope &timing,
                                   std::string &bytes) const {
  const Group &group = groups[index];
  const ObjectJob &own = jobs[group.programs[place]];
  const ProgramPlan &first = *jobs[group.programs.front()].plan;
  rt::ProgramOp program = own.program;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(program.getLoc());
  defineNumbers(*module, group.numbers[place], group.different);
  declare(first, *module);
  MTC_RETURN_IF_ERROR(addTables(*module, own, first.fragments));
  return makeFragmentObject(*module, own.isa, timing, bytes);
}

} // namespace mtc::compiler

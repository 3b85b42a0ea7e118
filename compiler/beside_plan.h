//===- beside_plan.h - what a GPU holds beside arenas -----------*- C++ -*-===//
#ifndef MTC_COMPILER_BESIDE_PLAN_H
#define MTC_COMPILER_BESIDE_PLAN_H

#include "compiler/plan.h"

namespace mtc::compiler {

/// What no plan decides, in bytes of a rank's GPU. Measured with CUDA 13 and
/// NCCL 2.28.9 on one H100, communicators with one rank (docs/h100.md; two
/// ranks over sockets had 482 MB), so an estimate for other devices, versions
/// and links.
struct BesidePlan {
  int64_t context = 0;       ///< of CUDA, with its first stream and module
  int64_t communicators = 0; ///< of NCCL that the rank takes part in
  int64_t nccl = 0;          ///< of these

  int64_t total() const { return context + nccl; }
};

/// Of the ranks of a stage of a mesh of GPUs. Several ranks are taken to
/// exchange by NCCL, which `mtc run` may be told not to use.
BesidePlan besidePlan(const Mesh &mesh, int64_t stage);

/// The same of a rank that runs this program; zero where the plan is for CPUs.
BesidePlan besidePlan(const PlanConfig &config, const ProgramPlan &program);

} // namespace mtc::compiler
#endif // MTC_COMPILER_BESIDE_PLAN_H

//===- descriptor.h - what a program says about itself ----------*- C++ -*-===//
#ifndef MTC_COMPILER_DESCRIPTOR_H
#define MTC_COMPILER_DESCRIPTOR_H

#include "compiler/plan.h"

#include <nlohmann/json.hpp>

namespace mtc::compiler {

/// The descriptor of one program as docs/descriptor.md lays it down. Equal
/// plans give equal text.
nlohmann::ordered_json describe(const BundlePlan &plan,
                                const ProgramPlan &program);

/// The manifest of a bundle: plan hash, mesh, and for each stage the files
/// relative to the bundle's folder.
nlohmann::ordered_json describeBundle(const BundlePlan &plan);

/// The ranks along each axis, {"tp": 2, "cp": 1, "dp": 1, "pp": 4}.
nlohmann::ordered_json describeMesh(Mesh mesh);

/// "programs/stage0": the executable of a stage in its bundle; the shared
/// object has ".so" added.
std::string programFile(int64_t stage);

} // namespace mtc::compiler
#endif // MTC_COMPILER_DESCRIPTOR_H

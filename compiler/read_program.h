//===- read_program.h - one rt.program to plain values ----------*- C++ -*-===//
#ifndef MTC_COMPILER_READ_PROGRAM_H
#define MTC_COMPILER_READ_PROGRAM_H

#include "compiler/plan.h"
#include "dialects/rt/Rt.h"

#include <map>

namespace mtc::compiler {

/// The parameters of a model by name.
using Parameters = std::map<std::string, pipe::ParameterOp>;

/// Reads a program that went through plan-memory. What is missing is as if it
/// were empty, and uses of parameters that `model` has not are left out: only
/// verify-plan says what is wrong.
ProgramPlan readProgram(rt::ProgramOp op, const PlanConfig &config,
                        const Parameters &model);

} // namespace mtc::compiler
#endif // MTC_COMPILER_READ_PROGRAM_H

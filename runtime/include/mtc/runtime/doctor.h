//===- doctor.h - what this machine can run ---------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DOCTOR_H
#define MTC_RUNTIME_DOCTOR_H

#include <string>

namespace mtc::runtime {

/// What `mtc doctor` prints: the processor and what it can compute, libraries
/// and GPUs that were found, what is missing and how to get it. `mpiFolder` has
/// the engines of MPI (lib/mtc/mpi of an installation). JSON if `json`.
std::string describeMachine(const std::string &mpiFolder, bool json);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DOCTOR_H

//===- weights.h - does a file of parameters fit a bundle -------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_WEIGHTS_H
#define MTC_RUNTIME_CONTROL_WEIGHTS_H

#include "runtime/control/bundle.h"

namespace mtc::runtime {

/// Compares the tensors of a safetensors file with the parameters of all
/// stages, before any rank starts. Errors: inputRejected, all that are missing,
/// wrong or no parameter at once.
Status checkWeights(const std::string &path, const Bundle &bundle);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_WEIGHTS_H

//===- part_name.h - names of parts of a model ------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_PART_NAME_H
#define MTC_RUNTIME_BASE_PART_NAME_H

#include <string>

namespace mtc::runtime {

/// One name for parts of the model that differ in numbers only, as layers do:
/// "layers.*.mlp.up" of "layers.0.mlp.up" and "layers.1.mlp.up". Of others the
/// first, which then ends in ", ...".
std::string commonPart(const std::string &one, const std::string &other);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_PART_NAME_H

//===- bundle_around.h - outputs that would change a bundle -----*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_BUNDLE_AROUND_H
#define MTC_TOOLS_MTC_BUNDLE_AROUND_H

#include <string>

namespace mtc::tool {

/// The bundle that `file` would be in; empty: none. Files of a bundle are in
/// its folder or one below.
std::string bundleAround(const std::string &file);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_BUNDLE_AROUND_H

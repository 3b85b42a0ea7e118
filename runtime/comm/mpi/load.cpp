//===- load.cpp - opens an MPI library ------------------------------------===//

#include "runtime/comm/mpi/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <dlfcn.h>
#include <unistd.h>

namespace mtc::runtime {

const MpiLibrary *mpiLibraryNamed(std::string_view name) {
  const auto *found = std::ranges::find(kMpiLibraries, name, &MpiLibrary::name);
  return found == std::end(kMpiLibraries) ? nullptr : found;
}

Status loadMpi(const std::string &folder, const MpiLibrary &library,
               const MpiEngine *&out) {
  std::string file = fmt::format("{}/libmtc_mpi_{}.so", folder, library.name);
  if (access(file.c_str(), R_OK) != 0)
    return {
        StatusCode::failed,
        fmt::format("this mtc was built without {}: expected '{}'; build it "
                    "where the library's headers are installed (Debian: "
                    "lib{}-dev)",
                    library.title, file, library.name)};
  // Global: parts of these libraries are opened later and look for the rest.
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle)
    return {StatusCode::failed,
            fmt::format("cannot load {}: {}; install it (Debian: {})",
                        library.title, dlerror(), library.package)};
  out = static_cast<const MpiEngine *>(dlsym(handle, kMpiEngineSymbol));
  if (out && out->version == kMpiEngineVersion)
    return Status::okay();
  return {StatusCode::failed,
          fmt::format("'{}' is of another version of mtc; install mtc as a "
                      "whole",
                      file)};
}

} // namespace mtc::runtime

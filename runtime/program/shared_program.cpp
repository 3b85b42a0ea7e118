//===- shared_program.cpp - opens a program's shared object ---------------===//

#include "runtime/program/abi_functions.h"
#include "runtime/program/program.h"

#include <fmt/format.h>

#include <dlfcn.h>

namespace mtc::runtime {

Status openSharedProgram(const std::string &path, Program &out) {
  // Taking the table's address makes the linker keep the functions that the
  // shared object needs; without it a static library would leave them out.
  if (abiFunctions().empty())
    return {StatusCode::internal, "the runtime exports no functions"};
  // A name without '/' would be searched in the system's folders.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return {StatusCode::inputRejected,
            fmt::format("cannot open program '{}': {}", path, dlerror())};
  Program program;
  program.keepAlive =
      std::shared_ptr<void>(handle, [](void *h) { dlclose(h); });
  program.descriptor =
      static_cast<const char *>(dlsym(handle, "mtc_descriptor"));
  program.fragments =
      static_cast<const MtcFragment *>(dlsym(handle, "mtc_fragments"));
  program.transfers =
      static_cast<const MtcTransfer *>(dlsym(handle, "mtc_transfers"));
  program.slots = static_cast<const int32_t *>(dlsym(handle, "mtc_slots"));
  if (auto *device = static_cast<const MtcDeviceFactory *const *>(
          dlsym(handle, "mtc_device")))
    program.device = *device;
  program.timeline = [handle](const std::string &entry) {
    return static_cast<const MtcStep *>(
        dlsym(handle, ("mtc_timeline_" + entry).c_str()));
  };
  program.code = [handle](const std::string &name) {
    return static_cast<const char *>(dlsym(handle, ("mtc_" + name).c_str()));
  };
  if (!program.descriptor || !program.fragments)
    return {StatusCode::inputRejected,
            fmt::format("'{}' is not a compiled program: expected the symbols "
                        "mtc_descriptor and mtc_fragments",
                        path)};
  out = std::move(program);
  return Status::okay();
}

} // namespace mtc::runtime

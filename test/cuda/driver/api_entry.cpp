//===- api_entry.cpp - functions by name ----------------------------------===//
#include "test/cuda/driver/api.h"

#include <cstring>
#include <dlfcn.h>
#include <string>

using namespace mtc::standin;

namespace {

/// Newest first.
constexpr const char *kVersions[] = {"_v4", "_v3", "_v2", ""};
constexpr int kStreamsOfThreads = 0x2; ///< of the flags

void *find(const std::string &name) {
  static void *self = [] {
    Dl_info here{};
    dladdr(reinterpret_cast<void *>(&cuInit), &here);
    return dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return dlsym(self, name.c_str());
}

/// A name that already has a version is none.
bool hasVersion(const std::string &name) {
  return name.size() > 3 && name[name.size() - 3] == '_' &&
         name[name.size() - 2] == 'v';
}

} // namespace

MTC_API cuGetProcAddress(const char *name, void **function, int version,
                         cuuint64_t flags,
                         CUdriverProcAddressQueryResult *status) {
  if (!name || !function)
    return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  // Streams of threads as the default ones are not here.
  if (!hasVersion(name) && !(flags & kStreamsOfThreads))
    for (const char *each : kVersions)
      if (!*function)
        *function = find(std::string(name) + each);
  // Only the newest form of a function is here; older programs get none.
  bool tooOld = *function && version < 12000;
  if (tooOld)
    *function = nullptr;
  if (status)
    *status = tooOld      ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
              : *function ? CU_GET_PROC_ADDRESS_SUCCESS
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_SUCCESS;
}

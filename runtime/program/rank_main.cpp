//===- rank_main.cpp - `main` of a compiled program -----------------------===//
//
// Linked with a generated object, which defines the tables below. A program
// without transfers simply lacks the symbol.
//
//===----------------------------------------------------------------------===//

#include "mtc/runtime/abi.h"
#include "runtime/control/rank_process.h"
#include "runtime/program/program.h"

#include <dlfcn.h>

extern "C" {
extern const char mtc_descriptor[];
extern const MtcFragment mtc_fragments[];
extern const MtcTransfer mtc_transfers[] __attribute__((weak));
extern const int32_t mtc_slots[] __attribute__((weak));
extern const MtcDeviceFactory *const mtc_device __attribute__((weak));
}

namespace {

/// The linker exports them: which entries and chips there are, the descriptor
/// says.
const MtcStep *findTimeline(const std::string &entry) {
  return static_cast<const MtcStep *>(
      dlsym(RTLD_DEFAULT, ("mtc_timeline_" + entry).c_str()));
}
const char *findCode(const std::string &name) {
  return static_cast<const char *>(
      dlsym(RTLD_DEFAULT, ("mtc_" + name).c_str()));
}

} // namespace

int main() {
  mtc::runtime::Program program;
  program.descriptor = mtc_descriptor;
  program.fragments = mtc_fragments;
  program.transfers = mtc_transfers;
  program.slots = mtc_slots;
  program.device = &mtc_device ? mtc_device : nullptr;
  program.timeline = findTimeline;
  program.code = findCode;
  return mtc::runtime::runRankProcess(std::move(program));
}

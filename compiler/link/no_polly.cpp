//===- no_polly.cpp - the entry of a library that mtc has not -------------===//
//
// LLD's library has LLVM's link-time optimisation, which names Polly's entry
// where LLVM was built with Polly. mtc links objects, so nobody calls it.
//
//===----------------------------------------------------------------------===//
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }

//===- registry.h - the list of family files --------------------*- C++ -*-===//
#ifndef MTC_PASSES_FAMILIES_REGISTRY_H
#define MTC_PASSES_FAMILIES_REGISTRY_H

namespace mtc::families {
// One function per family file; called once by `lookup`.
void registerPointwise();
void registerShape();
void registerDropout();
void registerEinsum();
void registerEmbedding();
void registerLoss();
void registerNorm();
void registerAttention();
void registerStructure();
void registerOptimizer();
} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_REGISTRY_H

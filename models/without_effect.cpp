//===- without_effect.cpp - choices that change nothing -------------------===//

#include "models/without_effect.h"

#include "models/epilogues.h"

#include <algorithm>

namespace mtc::models {
namespace {

bool overlaps(const Strategy &s, std::string_view kind) {
  return s.given.contains("overlap") &&
         std::find(s.overlap.begin(), s.overlap.end(), kind) != s.overlap.end();
}

/// Whether any that the strategy names is done within its products.
bool hasEpilogues(const Strategy &s) {
  return (s.target != "cpu" || s.gemm == "own") &&
         std::any_of(s.gemmEpilogues.begin(), s.gemmEpilogues.end(),
                     [&](const std::string &kind) {
                       return isEpilogueOf(s.target, kind);
                     });
}

/// A choice, when it does nothing, and why.
struct IdleChoice {
  bool (*isIdle)(const Strategy &);
  const char *why;
};

const IdleChoice kChoices[] = {
    {[](const Strategy &s) {
       return s.sequenceParallel && s.mesh[MTC_AXIS_TP] == 1;
     },
     "sequence_parallel: tp = 1, so nothing is split along the sequence"},
    {[](const Strategy &s) { return s.splitSaved && s.mesh[MTC_AXIS_TP] == 1; },
     "distribute_saved_activations: tp = 1, so each rank keeps all of them"},
    {[](const Strategy &s) { return s.zero > 0 && s.mesh[MTC_AXIS_DP] == 1; },
     "zero: dp = 1, so there are no replicas that could share states"},
    {[](const Strategy &s) {
       // Some gradients are partial sums over tp as well, as under sp.
       return overlaps(s, "grad-reduce") && s.mesh[MTC_AXIS_DP] == 1 &&
              s.mesh[MTC_AXIS_CP] == 1 && s.mesh[MTC_AXIS_TP] == 1;
     },
     "overlap = grad-reduce: tp = 1, cp = 1 and dp = 1, so no gradients are "
     "summed"},
    {[](const Strategy &s) {
       return overlaps(s, "param-gather") && s.mesh[MTC_AXIS_DP] == 1;
     },
     "overlap = param-gather: dp = 1, so no parameters are gathered"},
    {[](const Strategy &s) {
       return overlaps(s, "p2p") && s.mesh.stages() == 1;
     },
     "overlap = p2p: pp = 1, so there are no transfers"},
    {[](const Strategy &s) {
       return overlaps(s, "p2p") && s.mesh.stages() > 1 && s.target != "cpu";
     },
     "overlap = p2p: transfers of GPUs take place in the order of the program"},
    {[](const Strategy &s) {
       return s.given.contains("gemm_epilogues") && !s.gemmEpilogues.empty() &&
              !hasEpilogues(s);
     },
     "gemm_epilogues: bias and gelu are of GPUs, pointwise of a cpu whose "
     "products are our own"},
    {[](const Strategy &s) {
       return s.gemm != Strategy().gemm && s.target != "cpu";
     },
     "gemm: products of a GPU are its library's"},
    {[](const Strategy &s) {
       return s.prepack != Strategy().prepack &&
              (s.target != "cpu" || s.gemm != "own");
     },
     "prepack: only products of a cpu that are our own read packed weights"},
    {[](const Strategy &s) { return s.bucketLayout == "dense" && s.zero == 0; },
     "bucket_layout = dense: zero = 0, so no bucket is cut into parts"},
    {[](const Strategy &s) { return s.lossPerToken && !s.maskDocumentEnds; },
     "loss_per_token: no token is left out of the loss (mask_document_ends), "
     "so microbatches have as many as each other"},
    {[](const Strategy &s) { return s.commThread && s.mesh.worldSize() == 1; },
     "comm_thread: one rank has no collectives"},
};

} // namespace

std::vector<std::string> choicesWithoutEffect(const Strategy &strategy) {
  std::vector<std::string> idle;
  for (const IdleChoice &choice : kChoices)
    if (choice.isIdle(strategy))
      idle.emplace_back(choice.why);
  return idle;
}

} // namespace mtc::models

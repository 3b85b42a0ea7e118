// RUN: mtc-opt %s -split-input-file -split-backward -verify-diagnostics
// expected-error @+1 {{is not a legal schedule: stage 0 chunk 0: expected B in all microbatches, or I and W in all, found both}}
pipe.schedule @train stages 1 chunks 1 microbatches 2 ["F0 B0 F1 I1 W1"]
func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
  return
}

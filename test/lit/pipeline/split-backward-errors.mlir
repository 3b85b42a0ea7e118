// RUN: mtc-opt %s -split-input-file -split-backward -verify-diagnostics
pipe.schedule @train stages 1 chunks 1 microbatches 2 ["F0 B0 F1 I1 W1"]
// expected-error @+1 {{expected stage 0 to run the backward of chunk 0 whole (B) in all microbatches or split (I and W) in all, found a schedule with both}}
func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
  return
}

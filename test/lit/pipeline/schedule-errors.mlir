// RUN: mtc-opt %s -split-input-file -expand-schedule -verify-diagnostics
// Tests that a user's schedule that loses a backward, or adds gradients out of
// order, is refused.

// expected-error @+1 {{no backward for mb 1 chunk 0}}
pipe.schedule @train stages 1 chunks 1 microbatches 2 ["F0 F1 B0"]
// -----
// expected-error @+1 {{weight gradients added in order [1, 0]}}
pipe.schedule @train stages 1 chunks 1 microbatches 2 ["F0 F1 B1 B0"]

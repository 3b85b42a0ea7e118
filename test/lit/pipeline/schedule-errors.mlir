// RUN: mtc-opt %s -split-input-file -expand-schedule -verify-diagnostics
// RUN: sed -e 's/"1f1b"/"2f2b"/' %S/Inputs/config.mlir \
// RUN:   | not mtc-opt -build-schedule 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: schedule of entry "train": schedule '2f2b' is unknown, expected one of gpipe, 1f1b
// RUN: sed -e 's/"1f1b"/"forward-only"/' %S/Inputs/config.mlir \
// RUN:   | not mtc-opt -build-schedule 2>&1 | FileCheck %s --check-prefix=EVAL
// EVAL: schedule of entry "train": schedule 'forward-only' has no backwards, expected one of
// RUN: sed -e 's/chunks = 1/chunks = 2/' %S/Inputs/config.mlir \
// RUN:   | not mtc-opt -build-schedule 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: schedule of entry "train": v=2
// RUN: echo 'module {}' | not mtc-opt -build-schedule 2>&1 | FileCheck %s --check-prefix=NO-CONFIG
// NO-CONFIG: error: expected the module attribute mtc.config, found none; start from IR that `mtc compile --save-ir` wrote
// Tests that a user's schedule that loses a backward, or adds gradients out of
// order, is rejected.

// expected-error @+1 {{is not a legal schedule: stage 0: no backward for mb 1 chunk 0}}
pipe.schedule @train stages 1 chunks 1 microbatches 2 ["F0 F1 B0"]
// -----
// expected-error @+1 {{is not a legal schedule: stage 0 chunk 0: weight gradients added in order [1, 0]}}
pipe.schedule @train stages 1 chunks 1 microbatches 2 ["F0 F1 B1 B0"]
// -----
pipe.crossing activation.1 of "train" from 0 to 3 : tensor<4xf32>
// expected-error @+1 {{is not a legal schedule: activation.1 from 0 to 3: expected virtual stages 0 to 1}}
pipe.schedule @train stages 2 chunks 1 microbatches 1 ["F0 B0", "F0 B0"]
// -----
pipe.crossing activation.1 of "train" from 0 to 1 : tensor<4xf32>
pipe.crossing activation.1 of "train" from 0 to 2 : tensor<4xf32>
// expected-error @+1 {{is not a legal schedule: activation.1 from 0 to 2: virtual stage 0 sends two values of this name, expected one}}
pipe.schedule @train stages 3 chunks 1 microbatches 1 ["F0 B0", "F0 B0", "F0 B0"]
// -----
// expected-error @+1 {{expected virtual stages of different stages to send each other values, found 0 and 1 of 1 stages, which lie on the same one}}
pipe.crossing activation of "train" from 0 to 1 : tensor<4xf32>
pipe.schedule @train stages 1 chunks 2 microbatches 1 ["F0.0 F0.1 B0.1 B0.0"]
// -----
// expected-error @+1 {{expected virtual stages of different stages to send each other values, found 2 and 0 of 2 stages, which lie on the same one}}
pipe.crossing gradient.1 of "train" from 2 to 0 : tensor<4xf32>
pipe.schedule @train stages 2 chunks 2 microbatches 1 ["F0.0 F0.1 B0.1 B0.0", "F0.0 F0.1 B0.1 B0.0"]

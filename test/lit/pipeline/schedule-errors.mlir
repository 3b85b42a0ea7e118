// RUN: mtc-opt %s -split-input-file -expand-schedule -verify-diagnostics
// RUN: echo 'module attributes {mtc.config = {pp = 2 : i64, microbatches = 3 : i64, schedule = "2f2b"}} {}' \
// RUN:   | not mtc-opt -build-schedule 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: schedule of entry "train": schedule '2f2b' is unknown, expected one of gpipe, 1f1b
// RUN: echo 'module attributes {mtc.config = {pp = 2 : i64, microbatches = 3 : i64, schedule = "zb-h1"}} {}' \
// RUN:   | not mtc-opt -build-schedule 2>&1 | FileCheck %s --check-prefix=LACKS
// LACKS: schedule of entry "train": schedule 'zb-h1' cannot be compiled yet (it needs backward fragments split into input and weight gradient), expected one of gpipe, 1f1b
// RUN: echo 'module attributes {mtc.config = {pp = 2 : i64, microbatches = 3 : i64, schedule = "forward-only"}} {}' \
// RUN:   | not mtc-opt -build-schedule 2>&1 | FileCheck %s --check-prefix=EVAL
// EVAL: schedule of entry "train": schedule 'forward-only' has no backwards, expected one of
// RUN: echo 'module attributes {mtc.config = {pp = 0 : i64, microbatches = 3 : i64}} {}' \
// RUN:   | not mtc-opt -build-schedule 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: schedule of entry "train": p=0: expected at least one stage
// RUN: echo 'module attributes {mtc.config = {pp = 2 : i64, chunks = 2 : i64, microbatches = 4 : i64}} {}' \
// RUN:   | not mtc-opt -build-schedule 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: schedule of entry "train": v=2
// Tests that a user's schedule that loses a backward, or adds gradients out of
// order, is rejected.

// expected-error @+1 {{is not a legal schedule: stage 0: no backward for mb 1 chunk 0}}
pipe.schedule @train stages 1 chunks 1 microbatches 2 ["F0 F1 B0"]
// -----
// expected-error @+1 {{is not a legal schedule: stage 0 chunk 0: weight gradients added in order [1, 0]}}
pipe.schedule @train stages 1 chunks 1 microbatches 2 ["F0 F1 B1 B0"]
// -----
// expected-error @+1 {{expected chunks 1, found 2: rows of a timeline do not say which chunk a slot of a pool belongs to yet}}
pipe.schedule @train stages 1 chunks 2 microbatches 1 ["F0.0 F0.1 B0.1 B0.0"]

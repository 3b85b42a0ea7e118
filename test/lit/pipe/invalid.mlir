// RUN: mtc-opt %s -split-input-file -verify-diagnostics
// Tests that each branch of the pipe dialect's verifiers fires.

// expected-error @+1 {{expected pipe.fragment as the dialect's only attribute, found "pipe.stage"}}
func.func @stage() attributes {pipe.stage = 0 : i64} {
  return
}
// -----
// expected-error @+1 {{expected #pipe.fragment with a stage and a chunk, counted from 0, found "forward"}}
func.func @phase() attributes {pipe.fragment = "forward"} {
  return
}
// -----
// expected-error @+1 {{expected #pipe.fragment with a stage and a chunk, counted from 0, found #pipe.fragment<stage = -1}}
func.func @before_the_first() attributes {pipe.fragment = #pipe.fragment<stage = -1, chunk = 0, phase = eval>} {
  return
}

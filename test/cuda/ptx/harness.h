//===- harness.h - small kernels for tests ----------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_HARNESS_H
#define MTC_TEST_CUDA_PTX_HARNESS_H

#include "test/cuda/ptx/launch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mtc::ptx {

/// How a kernel of a test is launched.
struct Trial {
  Extent grid{1, 1, 1}, block{32, 1, 1};
  uint32_t dynamicShared = 0;
  std::vector<uint32_t> in; ///< words that it reads
  size_t outWords = 0;      ///< that it writes; 0: one per thread
  LaunchOptions options = {};
  std::string module = {}; ///< text before the kernel: variables
  std::string head = {};   ///< text before its body: .reqntid
  std::string target = "sm_90", version = "8.0";
  unsigned device = 90; ///< what executes it
};

struct Outcome {
  std::optional<Fault> fault;
  std::vector<uint32_t> out; ///< words that were not written are ~0
};

/// A module's text around the body of a kernel `k`, in which there are:
/// %p0 to %p9, %h0.. (b16), %r0.. (b32), %f0.. (f32), %d0.. (b64), %v0.. (f64);
/// %t the thread of the block, %i that of the grid (in x), %in and %out the
/// addresses of both buffers, %mine that of the word %i of out, %arg that of
/// the word %i of in.
std::string textAround(const std::string &body, const Trial &trial = {});

/// Null: the text is refused, and the test has failed.
std::unique_ptr<const Module> moduleOf(const std::string &text,
                                       const Rules &rules = {});

/// Runs a body; a text that is refused fails the test.
Outcome runBody(const std::string &body, const Trial &trial = {});

/// The words that lanes write to [%mine]; a fault fails the test.
std::vector<uint32_t> wordsOf(const std::string &body, const Trial &trial = {});

/// What a body is refused for; empty: it is not. Of several the first.
std::string refusalOf(const std::string &body, const Rules &rules = {},
                      const Trial &trial = {});

/// The kind of the fault that a body ends with; a good end is a failure.
FaultKind faultOf(const std::string &body, const Trial &trial = {});

/// EXPECTs that the first body ends with a fault of the kind and the second,
/// its legal twin, without one; by several seeds.
void expectFault(FaultKind kind, const std::string &wrong,
                 const std::string &right, const Trial &trial = {});

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_HARNESS_H

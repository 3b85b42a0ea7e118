//===- equivalence.h - why a mutant does what its kernel does ---*- C++ -*-===//
//
// Rules by which a changed instruction changes nothing. Each is decided by the
// instruction's text, or by what all threads of all runs read and wrote with
// and without the change.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_KERNELS_EQUIVALENCE_H
#define MTC_TEST_CUDA_KERNELS_EQUIVALENCE_H

#include "mutants.h"

#include "test/cuda/ptx/trace.h"

#include <string>
#include <vector>

namespace mtc::test {

/// What several pairs of runs showed, together.
void merge(ptx::Difference &all, const ptx::Difference &one);

/// The rule that makes `mutant` of `lines` equal, where all pairs of runs made
/// the same and differed as `difference` says; empty: there is none.
std::string ruleOf(const std::vector<std::string> &lines, const Mutant &mutant,
                   const ptx::Difference &difference);

/// Where differences got lost, in words: "setp selp".
std::string lostIn(const std::vector<std::string> &lines,
                   const ptx::Difference &difference);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_KERNELS_EQUIVALENCE_H

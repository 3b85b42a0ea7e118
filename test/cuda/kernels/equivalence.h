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

/// Whether what is stored is followed: `compared`: whoever loads it was
/// compared, too. Else another kernel may load it, and an other value is no
/// rule.
enum class Stores { compared, open };

/// The rule that makes `mutant` of `lines` equal, where all pairs of runs made
/// the same and differed as `difference` says; empty: there is none.
std::string ruleOf(const std::vector<std::string> &lines, const Mutant &mutant,
                   const ptx::Difference &difference,
                   Stores stores = Stores::compared);

/// Where differences got lost, in words: "setp selp".
std::string lostIn(const std::vector<std::string> &lines,
                   const ptx::Difference &difference);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_KERNELS_EQUIVALENCE_H

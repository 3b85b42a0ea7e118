//===- creations.h - which communicators a process made, and when -*- C++ -*-=//
#ifndef MTC_TEST_CUDA_NCCL_CREATIONS_H
#define MTC_TEST_CUDA_NCCL_CREATIONS_H

#include <cstddef>
#include <vector>

namespace mtc::standin::nccl {

// With MTC_STANDIN_COMMUNICATORS=1 the first call tells what was made before
// it, and whatever is made later is told as well.

/// A communicator that is being made, or a split in which this rank gets none,
/// by a rank of the first one. Returns its number for `nameMembers`.
size_t noteCreation(int rank);
/// Its ranks, as those of the communicator that it comes from are numbered.
void nameMembers(size_t creation, const std::vector<int> &members);
/// A collective or a transfer.
void noteCall();

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_CREATIONS_H

//===- gpu_assembly.h - cubins whose values are in registers ----*- C++ -*-===//
//
// ptxas chooses how many registers a thread has, and sometimes so few, for one
// block more beside the others, that values go to local memory. What it says of
// each entry is read, and such an entry is asked for again with fewer blocks.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_GPU_ASSEMBLY_H
#define MTC_COMPILER_GPU_ASSEMBLY_H

#include "passes/codegen/gpu_launch.h"
#include "runtime/base/ptxas.h"

namespace mtc::compiler {

/// Blocks of an entry that a multiprocessor is to have room for, by the entry's
/// name.
using EntryBlocks = std::map<std::string, int64_t>;

/// PTX whose entries ask for so many blocks (`.minnctapersm`), behind the size
/// of a block (`.reqntid`); those that have none, or 0 blocks, stay as they
/// are.
std::string withBlocks(const std::string &ptx, const EntryBlocks &blocks);

/// Fills in the cubin of `code`. Entries that spill are assembled again for
/// fewer blocks, as many as let a thread have more registers, until none does
/// or there is no more to have: then `ptx` says so, too, and is what the cubin
/// was made of. An entry that nothing helps stays as it was, and is in
/// `localBytes`. What `ptxas` says at last is in `entries`. One `ptxas` makes
/// equal bytes of equal ones. Errors: those of runtime::assemble.
runtime::Status
assembleGpuCode(const std::string &ptxas, codegen::GpuCode &code,
                std::map<std::string, runtime::AssembledEntry> &entries);

} // namespace mtc::compiler
#endif // MTC_COMPILER_GPU_ASSEMBLY_H

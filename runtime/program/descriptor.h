//===- descriptor.h - reading what a program says about itself --*- C++ -*-===//
//
// The records are in mtc/runtime/descriptor.h.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_PROGRAM_DESCRIPTOR_H
#define MTC_RUNTIME_PROGRAM_DESCRIPTOR_H

#include "mtc/runtime/descriptor.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// True when [offset, offset + bytes) lies in [0, size).
inline bool inside(int64_t offset, int64_t bytes, int64_t size) {
  return offset >= 0 && bytes >= 0 && offset <= size && bytes <= size - offset;
}

class FieldReader;
/// Reads one size per axis, {"tp": 2, "cp": 1, "dp": 1, "pp": 4}.
Mesh readMesh(FieldReader reader);
/// Reads {"of": "attn.qkv.bias", "shape": [4, 8], "dim": 0, "first": 2,
/// "size": 1}. Whether it fits what it is a slice of is not looked at.
SliceInfo readSlice(FieldReader reader);

/// Parses and checks the JSON text of a descriptor. Errors: inputRejected with
/// all problems at once (another ABI version is reported alone, because nothing
/// after it can be trusted).
Status parseDescriptor(std::string_view text, Descriptor &out);

/// The rules between fields; parseDescriptor applies it. `problems` gets one
/// text per violation.
void checkDescriptor(const Descriptor &d, std::vector<std::string> &problems);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_DESCRIPTOR_H

//===- toy_descriptor.h - a small valid descriptor to break -----*- C++ -*-===//
#ifndef MTC_TEST_UNIT_RUNTIME_TOY_DESCRIPTOR_H
#define MTC_TEST_UNIT_RUNTIME_TOY_DESCRIPTOR_H

#include <string>

namespace mtc::runtime::test {

/// Two ranks (tp = 2), one column-parallel parameter of [4, 6].
inline const char *const kToyDescriptor = R"({
  "abi": 26, "plan_hash": "0123456789abcdef", "model": "toy", "stage": 0,
  "isa": "x86-64-v3", "threads": 1, "streams": 1,
  "device": "cpu", "dtype": "f32", "onednn": "2", "optimizer": "adamw", "groups": [],
  "mesh": {"tp": 2, "cp": 1, "dp": 1, "pp": 1},
  "batch": {"micro_batch": 2, "microbatches": 3, "global_batch": 6, "seq": 4,
            "vocab": 16},
  "arenas": [4096, 4096, 4096, 8192, 0, 4096, 0],
  "params": [
    {"name": "up", "shape": [4, 6], "local_shape": [4, 3], "split_dim": 1,
     "split_axis": "tp", "bucket": 0, "start": 2, "owner": true, "decay": true,
     "init": {"kind": "normal", "std": 0.5}, "layer_axes": ["embed", "ffn"]},
    {"name": "scale", "shape": [2], "local_shape": [2],
     "bucket": 0, "start": 0, "owner": true, "decay": false,
     "init": {"kind": "ones"}, "layer_axes": ["embed"]}],
  "buckets": [
    {"elements": 16, "unpadded": 14, "zero": false, "shard_elements": 16,
     "grad_offset": 64, "grad_dtype": "f32", "param_offset": 0, "dtype": "f32",
     "states": [{"name": "exp_avg", "offset": 0},
                {"name": "exp_avg_sq", "offset": 64}]}],
  "inputs": [{"name": "ids", "pool": 4, "offset": 0, "stride": 1024,
              "entry": "train"}],
  "gemms": [], "kernels": [], "kernel_workspace": 0, "loss_offset": 0,
  "entries": [{"name": "train", "length": 2, "update": []}],
  "exports": [], "transfers": 0, "posted": 0, "pools": 10,
  "slots": 10, "fragments": ["work"]})";

/// The descriptor with the first `from` replaced by `to`.
inline std::string toyWith(const std::string &from, const std::string &to) {
  std::string text = kToyDescriptor;
  return text.replace(text.find(from), from.size(), to);
}

} // namespace mtc::runtime::test
#endif // MTC_TEST_UNIT_RUNTIME_TOY_DESCRIPTOR_H

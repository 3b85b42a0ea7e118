// Ranks that share key heads store a fused projection in slices. One fault each, planted in
// the plan of a compiled model: together they are all of the tensor, and no index is twice.
// RUN: sed -e "s/separate/fused/" %S/../../../models/specs/gpt2-nano-gqa.toml > %t.toml
// RUN: mtc compile %t.toml --tp 4 --gbs 1 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.mlir

// the values are those of the keys
// RUN: sed -e 's/dim = 1, first = 5, size = 1/dim = 1, first = 4, size = 1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'pipe.parameter' expected indices of "layers.0.attn.qkv.bias" from 5 on, so that each is in one slice, found "layers.0.attn.v.bias" from 4
// TWICE: 'pipe.parameter' expected slices of "layers.0.attn.qkv.bias" up to index 6, found the last, "layers.0.attn.v.bias", up to 5

// the values are a parameter of their own
// RUN: sed -e 's/, slice = <[^>]*first = 5, size = 1>//' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: 'pipe.parameter' expected slices of "layers.0.attn.qkv.bias" up to index 6, found the last, "layers.0.attn.k.bias", up to 5

// one is of a larger tensor, or along another dimension, or names other axes
// RUN: sed -e '/dim = 1, first = 4/s/shape = .2, 6, 8./shape = [2, 7, 8]/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LARGER
// LARGER: 'pipe.parameter' expected slices of "layers.0.attn.qkv.bias" along 1 of array<i64: 2, 6, 8>, as "layers.0.attn.q.bias" is one, found #tfm.slice<of = "layers.0.attn.qkv.bias", shape = [2, 7, 8], axes = ["kv_heads", "qkv", "head_dim"], dim = 1, first = 4, size = 1>

// RUN: sed -e '/dim = 1, first = 4/s/dim = 1, first = 4/dim = 2, first = 4/' -e '/dim = 2, first = 4/s/shape = .2, 6, 8./shape = [2, 8, 6]/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ALONG
// ALONG: 'pipe.parameter' expected slices of "layers.0.attn.qkv.bias" along 1 of array<i64: 2, 6, 8>, as "layers.0.attn.q.bias" is one, found
// RUN: sed -e '/dim = 1, first = 4/s/"qkv", "head_dim"/"qkv", "vocab"/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NAMES
// NAMES: 'pipe.parameter' expected slices of "layers.0.attn.qkv.bias" along 1 of array<i64: 2, 6, 8>, as "layers.0.attn.q.bias" is one, found {{.*}}"vocab"

// the whole is there as well
// RUN: sed -e 's/"layers.0.attn.out.bias"/"layers.0.attn.qkv.bias"/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: 'pipe.parameter' expected no parameter "layers.0.attn.qkv.bias" beside slices of it, found one

// What a slice cannot be at all.
// RUN: sed -e 's/first = 4, size = 1/first = 4, size = 2/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ELEMENTS
// ELEMENTS: 'pipe.parameter' op expected the {{[0-9]+}} elements of its slice of "layers.0.attn.qkv.weight", found [64, 2, 8]
// RUN: sed -e 's/first = 5, size = 1/first = 6, size = 1/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=INSIDE
// INSIDE: expected some of the 6 indices of dimension 2 of "layers.0.attn.qkv.weight", found 1 from 6
// RUN: sed -e 's/dim = 2, first = 5/dim = 4, first = 5/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=DIM
// DIM: expected one of the 4 dimensions of "layers.0.attn.qkv.weight", found 4
// RUN: sed -e 's/shape = .64, 2, 6, 8./shape = [64, 0, 6, 8]/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: expected sizes of 1 or more of "layers.0.attn.qkv.weight", found [64, 0, 6, 8]
// RUN: sed -e '/first = 5/s/axes = ."embed", "kv_heads", "qkv", /axes = ["embed", "qkv", /' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AXES
// AXES: expected an axis for each of the 4 dimensions of "layers.0.attn.qkv.weight", found 3

// RUN: mtc compile gpt2-nano --dtype bf16 --mbs 1 --gbs 2 --dp 2 --zero 1 --compile-to=plan-memory -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mtc-opt %t.mlir --verify-plan > %t.verified
// Tests where main parameters lie and who updates them, and that verify-plan
// rejects a plan that loses one of them.

// Two bytes a parameter, four a main parameter of the shard.
// CHECK: rt.bucket 0 elements 202112 unpadded {{.*}} shard 101056 {grad_offset = 0 : i64, param_offset = 0 : i64, param_type = bf16, state_offsets = array<i64: 0, 404224, 808448>, states = ["main", "exp_avg", "exp_avg_sq"]}
// CHECK: rt.bucket 1 elements 16384 {{.*}} param_offset = 404224 : i64, param_type = bf16, state_offsets = array<i64: {{[0-9]+, [0-9]+, [0-9]+}}>
// The optimizer works on the main shard and writes the parameters, rounded; the
// gather moves parameters.
// CHECK-LABEL: func.func @stage0_apply
// CHECK: %[[PARAM:.+]] = rt.offset_view %{{.*}} by %at{{.*}} : memref<202112xbf16>
// CHECK: %[[MAIN:.+]] = rt.offset_view %{{.*}} by %local{{.*}} : memref<101056xf32>
// CHECK: rt.launch @{{.*}}(%[[MAIN]], %{{.*}}, %{{.*}}, %{{.*}}, %[[PARAM]],
// CHECK: rt.collective all_gather %{{.*}} count 101056 {{.*}} : (memref<202112xbf16>)

// main parameters that share bytes with a moment
// RUN: sed -e 's/i64: 0, 404224,/i64: 404224, 404224,/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: expected bytes of its own in the arena optimizer, from {{[0-9]+}} or later, found 404224

// parameters that would need the bytes of fp32
// RUN: sed -e 's/param_offset = 404224 :/param_offset = 404160 :/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NARROW
// NARROW: expected bytes of its own in the arena params, from 404224 or later, found 404160

// an update of the parameters without their main copies
// RUN: sed -e '/func.func @stage0_apply/,/return/s/by %local : memref<101056xf32> -> memref<101056xf32>/by %at : memref<101056xf32> -> memref<101056xf32>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MOVED
// MOVED: 'rt.launch' expected the view of a whole buffer of a bucket, moved by an rt.flat_range inside of it (by its second result for states and accumulators of a shard, by its first for others) in shards of 101056 (0: not sharded), found another

// a bucket of another type than the model computes in
// RUN: sed -e 's/precision = bf16/precision = f32/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: expected parameters of type 'f32' (precision of mtc.config), found 'bf16'
// RUN: mtc compile gpt2-nano --dtype bf16 --mbs 1 --gbs 2 --dp 2 --zero 1 --compile-to=bucket-gradients \
// RUN:   | sed -e 's/precision = bf16/precision = f32/' \
// RUN:   | not mtc-opt --shard-optimizer 2>&1 | FileCheck %s --check-prefix=SHARD
// SHARD: expected parameters of type 'f32' (precision of mtc.config), found 'bf16'

// Before plan-memory, which would find an edit of one form in the other:
// RUN: mtc compile gpt2-nano --dtype bf16 --mbs 1 --gbs 2 --dp 2 --zero 1 --compile-to=assign-streams -o %t.edit.mlir

// a moment in the place of the main parameters, and the other way round
// RUN: sed -e '/func.func @stage0_apply/,/rt.launch/{s/"main"/"x"/;s/"exp_avg"/"main"/;s/"x"/"exp_avg"/}' %t.edit.mlir \
// RUN:   | not mtc-opt --plan-memory --verify-plan 2>&1 | FileCheck %s --check-prefix=TRADED
// TRADED: 'rt.launch' expected the parameters of bucket 0 to be their main parameters, rounded, found "exp_avg"

// parameters that are the main ones of the step before
// RUN: sed -e '/math.sqrt/,/rt.store 4,/s/truncf %27/truncf %0/' %t.edit.mlir \
// RUN:   | not mtc-opt --plan-memory --verify-plan 2>&1 | FileCheck %s --check-prefix=BEFORE
// BEFORE: 'rt.launch' expected the parameters of bucket 0 to be their main parameters, rounded, found another value

// Steps of the norm that continue a sum, where it is not what they count. One fault each,
// planted in the plan of a compiled model.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --mbs 2 --gbs 8 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.mlir

// parts of the parts that ranks make
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/rt.flat_range start 0 count 202112/& among <dp>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'rt.norm' expected the norm to count of "layers.{{[0-9]+}}.{{.*}}" what each dp rank makes, found it to count parts of that

// all of what is the same behind the sum of two uses
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/ among <dp>//' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EACH
// EACH: 'rt.norm' expected the norm to count "embed.tokens" among dp ranks (all have the same), found it on every one

// counted behind by ranks that each made a part
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/ continues / /' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: 'rt.norm' expected the norm to count "layers.{{[0-9]+}}.{{.*}}" among dp ranks (all have the same), found it on every one

// a sum of other elements in front: that of the second bucket
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/group dp count 202112/{h;d};/group dp count 16384/{G;s/\(.*\)\n\(.*\)/\2\n\1/}}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: 'rt.norm' expected in front of what continues it, on the stream of a cpu's fragments, a sum in f32 of all that it counts, found another op

// less of a sum than is counted
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/group dp count 202112/group dp count 202000/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER

// of a sum of two uses: less at its begin; the same elements of the other use
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/start 0 count 16384$/start 16 count 16368/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/grads at 808448 \(.*"embed.tokens"\)/grads at 873984 \1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER

// another step of the norm between the two
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/.*group dp count 202112.*/&\n      rt.norm check of %%0 : memref<1xf32>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/.*group dp count 202112.*/&\n      rt.norm check of %%0 : memref<1xf32>/' %t.mlir > %t.between.mlir
// RUN: not mtc compile %t.between.mlir --from plan-memory --no-verify -o %t.out 2>&1 | FileCheck %s --check-prefix=UNSEEN
// UNSEEN: 'rt.norm' op expected in front of what continues it, on a cpu, a collective or a kernel over a flat range that writes one buffer, found another op

// a sum that writes nothing, which nobody looked at
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/writes \[0\]/writes []/' %t.mlir > %t.none.mlir
// RUN: not mtc compile %t.none.mlir --from plan-memory --no-verify -o %t.out 2>&1 | FileCheck %s --check-prefix=UNSEEN

// on the stream of collectives
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/group dp count 202112 {/&stream = 1 : i64, /' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER

// nothing in front
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/.*group dp count 202112.*/      rt.norm check of %%0 : memref<1xf32>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER

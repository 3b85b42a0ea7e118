// What plan-memory finds no place for.
// RUN: mtc compile gpt2-nano --tp 1 --pp 1 --dp 2 --zero 1 --mbs 2 --gbs 4 --compile-to=assign-streams -o %t.mlir

// a part of a bucket that does not exist
// RUN: sed -e '/func.func @stage0_apply/,/return/s/rt.ref state "exp_avg" of 0/rt.ref state "exp_avg" of 64/' %t.mlir \
// RUN:   | not mtc-opt --plan-memory 2>&1 | FileCheck %s --check-prefix=NO-BUCKET
// NO-BUCKET: 'rt.ref' op expected a bucket of this program, found 64

// an accumulator that nothing places
// RUN: sed -e 's/\(rt.ref grad for "final_norm.bias" use \)0/\17/' %t.mlir \
// RUN:   | not mtc-opt --plan-memory 2>&1 | FileCheck %s --check-prefix=NO-ACCUMULATOR
// NO-ACCUMULATOR: 'rt.ref' op expected an rt.param of use 7 of "final_norm.bias", found none

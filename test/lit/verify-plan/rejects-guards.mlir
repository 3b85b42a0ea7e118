// What a step without its update leaves out. One fault each, planted in a plan that is accepted.

// an update that is not guarded
// RUN: sed -e 's/\] guarded {/] {/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-UPDATE-WITHOUT-A-GUARD
// AN-UPDATE-WITHOUT-A-GUARD: 'rt.launch' expected a guarded op in the fragment apply, which changes nothing in a step without its update, found another

// gradients that are cleared in any case: nobody could say what was not finite
// RUN: sed -e '/rt.zero %31/s/ guarded//' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENTS-CLEARED-IN-ANY-CASE
// GRADIENTS-CLEARED-IN-ANY-CASE: 'rt.zero' expected a guarded op in the fragment apply, which changes nothing in a step without its update, found another

// a guarded kernel of another fragment
// RUN: sed -e '/rt.kernel @scale rows/,/{/s/\] {/] guarded {/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-GUARDED-FORWARD
// A-GUARDED-FORWARD: 'rt.launch' expected guarded ops in the fragment apply alone, which a step without its update leaves out, found one in stage0_fwd

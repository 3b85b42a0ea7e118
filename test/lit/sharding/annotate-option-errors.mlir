// Options of annotate-shardings that it cannot read.
// RUN: not mtc-opt %s --annotate-shardings="mesh=dp rules=ffn=tp" 2>&1 | FileCheck %s --check-prefix=PAIR
// RUN: not mtc-opt %s --annotate-shardings="mesh=dp=two" 2>&1 | FileCheck %s --check-prefix=SIZE

// PAIR: expected options like mesh=dp=2,tp=4 and rules=ffn=tp, found mesh="dp" rules="ffn=tp"
// SIZE: expected a size for mesh axis "dp", found "two"
func.func @microbatch() { return }

// Tests that the pipelines of mtc-opt are the phases of mtc.

// RUN: mtc compile gpt2-nano --pp 2 --gbs 4 --mbs 2 --compile-to import -o %t.import.mlir
// RUN: mtc compile %t.import.mlir --compile-to verify-plan | mtc-opt - -o %t.plan
// RUN: mtc-opt %t.import.mlir --mtc-compile -o %t.whole
// RUN: diff %t.plan %t.whole
// RUN: mtc-opt %t.import.mlir --mtc-model --mtc-sharding --mtc-pipeline --mtc-plan -o %t.parts
// RUN: diff %t.plan %t.parts

// Without verifiers the last phase is plan-memory.
// RUN: mtc compile %t.import.mlir --no-verify --compile-to plan-memory | mtc-opt - -o %t.planned
// RUN: mtc-opt %t.import.mlir --mtc-compile=verify=false -o %t.unverified
// RUN: diff %t.planned %t.unverified

// A pipeline rejects IR of another phase than the one before it.
// RUN: not mtc-opt %t.import.mlir --mtc-plan 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: loc("gpt2-nano"): expected IR for which bucket-gradients is the next phase, found the result of import

// A phase that failed was not reached.
// RUN: not mtc-opt %t.import.mlir --mtc-model --annotate-shardings --partition --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=FAILED
// FAILED: error: {{.*}}for which partition is the next phase
// FAILED: IR Dump After {{.*}} Failed (partition)
// FAILED: mtc.phase = "annotate-shardings"
// RUN: sed -e 's/tfm.stop_gradient/tfm.exp/' %t.import.mlir | not mtc-opt - --differentiate --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: IR Dump After {{.*}} Failed (differentiate)
// HALF: mtc.phase = "import"

// Ours are listed first, in their order.
// RUN: mtc-opt --help | FileCheck %s --check-prefix=HELP
// HELP: OVERVIEW: runs passes of mtc on IR
// HELP: --mtc-model
// HELP-NEXT: --differentiate
// HELP: --mtc-plan
// HELP: --verify-plan
// HELP-NEXT: --mtc-code
// HELP: --mtc-compile
// HELP: OPTIONS:

// RUN: mtc help phases | FileCheck %s --check-prefix=PHASES
// PHASES: import
// PHASES-NEXT: mtc-model
// PHASES-NEXT: differentiate
// PHASES: lower-to-llvm
// PHASES-NEXT: link

// Stages whose layers follow from what they compute. The head of gpt2-124m, with 50,304
// words, counts as much as five of its layers, so the last of four stages has no other.
// RUN: mtc compile gpt2-124m --pp 4 --gbs 4 --stages balanced --compile-to import -o - | FileCheck %s --check-prefix=HEAD
// HEAD: layers_per_stage = [4, 4, 4, 0]
// What layers compute again counts again: the head is then less beside them.
// RUN: mtc compile gpt2-124m --pp 3 --gbs 4 --stages balanced --compile-to import -o - | FileCheck %s --check-prefix=ONCE
// ONCE: layers_per_stage = [6, 5, 1]
// RUN: mtc compile gpt2-124m --pp 3 --gbs 4 --stages balanced --recompute full --compile-to import -o - | FileCheck %s --check-prefix=AGAIN
// AGAIN: layers_per_stage = [5, 5, 2]
// Numbers that are given stay.
// RUN: mtc compile gpt2-124m --pp 4 --gbs 4 --stages balanced --last-stage-layers 1 --compile-to import -o - | FileCheck %s --check-prefix=GIVEN
// GIVEN: layers_per_stage = [4, 4, 3, 1]
// Megatron's names of the ends.
// RUN: mtc compile gpt2-124m --pp 4 --gbs 4 --decoder-first-pipeline-num-layers 4 --decoder-last-pipeline-num-layers 2 --compile-to import -o - | FileCheck %s --check-prefix=ENDS
// ENDS: layers_per_stage = [4, 3, 3, 2]

// Which groups cross hosts, and what they move: bytes by hand, for a residual stream of
// 1 x 32 x 64 floats, 8192 bytes, two microbatches of a replica.
// RUN: rm -rf %t && mtc compile gpt2-nano --tp 2 --dp 2 --pp 2 --gbs 4 --ranks-per-host 4 --json -o %t > %t.json
// RUN: FileCheck %s --check-prefix=NEAR --input-file %t.json
// NEAR: "hosts": {
// NEAR-NEXT: "ranks_per_host": 4,
// NEAR-NEXT: "hosts": 2,
// NEAR: "tp": {
// NEAR-NEXT: "groups": 4,
// NEAR-NEXT: "crossing": 0,
// NEAR-NEXT: "crosses_hosts": false,
// Over two ranks an all-reduce of n bytes sends n along both edges of the ring, so 2 n in
// each of two groups of a stage. Stage 0 has 9 of 8192 bytes a microbatch (embedding, two
// each way in each of two layers), stage 1 as many (the head's gradient) and two sums of
// the loss of 32 floats: 4 * (2 * 9 * 8192 + 2 * 9 * 8192 + 2 * 2 * 128).
// NEAR: "all_reduce": {
// NEAR-NEXT: "within_bytes": 1181696,
// NEAR-NEXT: "between_bytes": 0
// One maximum of the loss: 4 * 2 * 128.
// NEAR: "all_reduce_max": {
// NEAR-NEXT: "within_bytes": 1024,
// NEAR-NEXT: "between_bytes": 0
// NEAR: "dp": {
// NEAR-NEXT: "groups": 4,
// NEAR-NEXT: "crossing": 0,
// A layer has 25184 elements of a rank: weights 64 * (192 + 64 + 256 + 256) / 2, biases
// 96 + 64 + 128 + 64, norms 256. Positions are 32 * 64, the table 256 / 2 * 64 on both
// stages, the last norm 128; the loss is one:
// 4 * 4 * (2 * 25184 + 2048 + 8192 + 2 * 25184 + 128 + 8192 + 1).
// NEAR: "all_reduce": {
// NEAR-NEXT: "within_bytes": 1908752,
// NEAR-NEXT: "between_bytes": 0
// The table's gradient between the stages: four groups, 2 * 4 * 8192 each.
// NEAR: "embedding": {
// NEAR: "all_reduce": {
// NEAR-NEXT: "within_bytes": 0,
// NEAR-NEXT: "between_bytes": 262144
// The norm is 9 limbs of 16 bytes over all ranks: 2 * 144 * 7 / 8 along each of eight edges,
// of which two lead to the other host.
// NEAR: "all": {
// NEAR: "norm_reduce": {
// NEAR-NEXT: "within_bytes": 1512,
// NEAR-NEXT: "between_bytes": 504
// Stages lie on hosts of their own: an activation and a gradient of each of two
// microbatches, on four ranks of a stage.
// NEAR: "pp": {
// NEAR-NEXT: "groups": 4,
// NEAR-NEXT: "crossing": 4,
// NEAR-NEXT: "crosses_hosts": true,
// NEAR: "send": {
// NEAR-NEXT: "within_bytes": 0,
// NEAR-NEXT: "between_bytes": 131072
// NEAR: "warnings": []

// With ZeRO-1 a reduce-scatter and an all-gather send half of that: n in each of two groups
// of a stage, buckets padded to 128 elements: 2 * 4 * (52480 + 8192 + 50560 + 8192).
// RUN: rm -rf %t && mtc compile gpt2-nano --tp 2 --dp 2 --pp 2 --gbs 4 --zero 1 --ranks-per-host 4 --json -o %t > %t.json
// RUN: FileCheck %s --check-prefix=ZERO --input-file %t.json
// ZERO: "hosts": {
// ZERO: "dp": {
// ZERO: "all_gather": {
// ZERO-NEXT: "within_bytes": 955392,
// ZERO: "reduce_scatter": {
// ZERO-NEXT: "within_bytes": 955392,

// In the other order replicas lie apart, and the stages of one on one host.
// RUN: rm -rf %t && mtc compile gpt2-nano --tp 2 --dp 2 --pp 2 --gbs 4 --ranks-per-host 4 --rank-order tp-cp-pp-dp --json -o %t > %t.json
// RUN: FileCheck %s --check-prefix=ORDER --input-file %t.json
// ORDER: "order": "tp-cp-pp-dp"
// ORDER: "dp": {
// ORDER-NEXT: "groups": 4,
// ORDER-NEXT: "crossing": 4,
// ORDER: "pp": {
// ORDER-NEXT: "groups": 4,
// ORDER-NEXT: "crossing": 0,
// ORDER: "send": {
// ORDER-NEXT: "within_bytes": 131072,
// ORDER-NEXT: "between_bytes": 0

// RUN: rm -rf %t && mtc compile gpt2-nano --tp 4 --gbs 4 --ranks-per-host 2 -o %t | FileCheck %s --check-prefix=WARN
// WARN: hosts          2 of 2 ranks
// WARN-NEXT: tp           1 of 1 groups cross hosts
// WARN: warning: tp groups cross hosts: each layer waits for several collectives over tp, so tp = 4 should divide ranks_per_host = 2; take tp = 2 and more pp or dp, or hosts of 4 ranks

// Keys and values of 8192 bytes: two gathered forward and two backward, two gradients
// scattered, of four layers and two microbatches, in two groups along cp, which lie on
// hosts of their own in the default order and across two where replicas come first.
// RUN: rm -rf %t && mtc compile gpt2-nano --cp 2 --dp 2 --gbs 4 --ranks-per-host 2 --json -o %t > %t.json
// RUN: FileCheck %s --check-prefix=CP --input-file %t.json
// CP: "cp": {
// CP-NEXT: "groups": 2,
// CP-NEXT: "crossing": 0,
// CP: "all_gather": {
// CP-NEXT: "within_bytes": 524288,
// CP-NEXT: "between_bytes": 0
// CP: "reduce_scatter": {
// CP-NEXT: "within_bytes": 262144,
// CP-NEXT: "between_bytes": 0
// RUN: rm -rf %t && mtc compile gpt2-nano --cp 2 --dp 2 --gbs 4 --ranks-per-host 2 --rank-order tp-dp-cp-pp --json -o %t > %t.json
// RUN: FileCheck %s --check-prefix=APART --input-file %t.json
// APART: "cp": {
// APART-NEXT: "groups": 2,
// APART-NEXT: "crossing": 2,
// APART: "all_gather": {
// APART-NEXT: "within_bytes": 0,
// APART-NEXT: "between_bytes": 524288

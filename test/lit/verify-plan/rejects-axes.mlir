// Axes that a plan names are axes of the mesh that split tensors. One fault each,
// planted in a plan that is accepted.

// a parameter that is split over the stages, which are no shards
// RUN: sed -e '/pipe.parameter.*layers.0.w/s/ local tensor/ sharding #dist.sharding<[{"pp"}]> local tensor/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SPLIT-OVER-STAGES
// SPLIT-OVER-STAGES: 'pipe.parameter' expected a split over tp, cp or dp, found one over "pp"

// logits whose place in a file would depend on the data axis
// RUN: sed -e '/rt.export_slot "logits"/s/ local tensor/ sharding #dist.sharding<[{}, {"dp"}]> local tensor/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EXPORT-OVER-DATA
// EXPORT-OVER-DATA: 'rt.export_slot' expected an export that is not split over the data axis "dp", found dimension 1 split

// logits split over an axis that is none
// RUN: sed -e '/rt.export_slot "logits"/s/ local tensor/ sharding #dist.sharding<[{}, {"xx"}]> local tensor/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EXPORT-OVER-NOTHING
// EXPORT-OVER-NOTHING: 'rt.export_slot' expected a split over tp, cp or dp, found one over "xx"

// Axes that a plan names are axes of the mesh that split tensors, and have ranks. One
// fault each, planted in a plan that is accepted.

// ranks that cannot be
// RUN: sed -e 's/tp = 2 : i64, dp/tp = 0 : i64, dp/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-RANKS
// NO-RANKS: expected 1 to 65536 ranks along tp in mtc.config, found 0
// RUN: sed -e 's/dp = 2 : i64/dp = -1 : i64/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LESS-THAN-NO-RANKS
// LESS-THAN-NO-RANKS: expected 1 to 65536 ranks along dp in mtc.config, found -1
// RUN: sed -e 's/pp = 1 : i64/pp = 65537 : i64/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TOO-MANY-RANKS
// TOO-MANY-RANKS: expected 1 to 65536 ranks along pp in mtc.config, found 65537

// a parameter that is split over the stages, which are no shards
// RUN: sed -e '/pipe.parameter.*layers.0.w/s/ local tensor/ sharding #dist.sharding<[{"pp"}]> local tensor/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SPLIT-OVER-STAGES
// SPLIT-OVER-STAGES: 'pipe.parameter' expected a split over tp or dp, found one over "pp"

// logits whose place in a file would depend on the data axis
// RUN: sed -e '/rt.export_slot "logits"/s/ local tensor/ sharding #dist.sharding<[{}, {"dp"}]> local tensor/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EXPORT-OVER-DATA
// EXPORT-OVER-DATA: 'rt.export_slot' expected an export that is not split over the data axis "dp", found dimension 1 split

// logits split over an axis that is none
// RUN: sed -e '/rt.export_slot "logits"/s/ local tensor/ sharding #dist.sharding<[{}, {"xx"}]> local tensor/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EXPORT-OVER-NOTHING
// EXPORT-OVER-NOTHING: 'rt.export_slot' expected a split over tp or dp, found one over "xx"

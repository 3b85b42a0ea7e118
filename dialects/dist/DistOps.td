//===- DistOps.td - where each tensor lives ---------------------------------===//
//
// Attributes first (mesh, sharding), then `reshard` on global types, then the
// collectives, which exist on local types only.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_DIST_OPS
#define MTC_DIST_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::mtc::dist";
  let summary = "shardings and collectives over a named mesh";
  let description = [{
    The second level. It adds to the ops of `tfm` where each value lives: on each
    axis of a named mesh a value is replicated, split on one dimension, a partial
    sum or a partial maximum. It knows axes, and no ranks: one module is the
    program of all of them. It does not know stages, the order of microbatches or
    memory; `dp` and `tp` are axes, `pp` is not.

    The module carries `dist.mesh`; every value of a function carries a sharding:
    function arguments as argument attribute `dist.sharding`, op results as the
    array attribute `dist.shardings`, one entry per result.

    Under tp = 2, dp = 2 the second product of an MLP, split over its contracted
    dimension, gives partial sums (types still global):

    ```mlir
    %y = tfm.einsum "bsf,fe->bse" %v, %w {dist.shardings = [#dist.sharding<[{"dp"}, {}, {} ], partial = {"tp"}>]} : tensor<2x32x256xf32>, tensor<256x64xf32> -> tensor<2x32x64xf32>
    %r = dist.reshard %y from <[{"dp"}, {}, {} ], partial = {"tp"}> to <[{"dp"}, {}, {} ]> origin g serves "layers.0.mlp.down.weight" : tensor<2x32x64xf32>
    ```

    `partition` makes types local, and of the reshard the collective:

    ```mlir
    %y = tfm.einsum "bsf,fe->bse" %v, %w : tensor<1x32x128xf32>, tensor<128x64xf32> -> tensor<1x32x64xf32>
    %r = dist.all_reduce sum %y over "tp" origin g serves "layers.0.mlp.down.weight" : tensor<1x32x64xf32>
    ```

    How shardings are chosen is in [sharding](../sharding.md). The next level,
    `pipe`, says which stage runs what and when.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

def Dist_Mesh : AttrDef<Dist_Dialect, "Mesh"> {
  let mnemonic = "mesh";
  let summary = "named axes and their sizes, outermost first";
  let description = [{
    The order is that of ranks: neighbours on the last axis are neighbours.

    Example: `#dist.mesh<["dp" = 2, "tp" = 4]>`

    **Constraints:** names differ; sizes are at least 1.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Index of an axis, or -1.
    int64_t indexOf(llvm::StringRef axis) const;
    /// Size of an axis; 1 if the mesh has no such axis.
    int64_t sizeOf(llvm::StringRef axis) const;
  }];
}

def Dist_WeakSplit : AttrDef<Dist_Dialect, "WeakSplit"> {
  let mnemonic = "weak_split";
  let summary = "sequence parallelism: a split that each op takes by itself";
  let description = [{
    Ops that split nothing over the mesh axis `mesh` split the logical axis `axis`
    over it if they have the axis `beside`, too: norms, dropout and sums of the
    residual stream. It propagates nowhere, and parameters and inputs are laid out
    without it.

    Example: `#dist.weak_split<"seq" over "tp" beside "embed">`
  }];
  let parameters = (ins StringRefParameter<"logical axis">:$axis,
                        StringRefParameter<"mesh axis">:$mesh,
                        StringRefParameter<"another logical axis">:$beside);
  let assemblyFormat = "`<` $axis `over` $mesh `beside` $beside `>`";
}

def Dist_Sharding : AttrDef<Dist_Dialect, "Sharding"> {
  let mnemonic = "sharding";
  let summary = "per mesh axis: replicated, split on a dimension, partial";
  let description = [{
    Printed as the axes that split each dimension, then those over which the
    value is a partial sum or a partial maximum. Axes that are not named are
    replicated, and are not held: `axes[i]`, in the order of the mesh, has state
    `states[i]`, which is d >= 0 when split on dimension d, -2 for a partial sum
    and -3 for a partial maximum.

    Dimension 0 split over dp and dimension 2 over tp; a partial sum over tp; a
    scalar that is a partial maximum over tp:

    Example: `#dist.sharding<[{"dp"}, {}, {"tp"} ]>`

    Example: `#dist.sharding<[{}, {} ], partial = {"tp"}>`

    Example: `#dist.sharding<[], max = {"tp"}>`
  }];
  let parameters = (ins "int64_t":$rank, ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        ArrayRefParameter<"int64_t">:$states);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kReplicated = -1, kPartial = -2, kMax = -3;
    /// State of an axis; kReplicated if it is not listed.
    int64_t stateOf(llvm::StringRef axis) const;
    /// A copy in which `axis` has `state`. `order` gives the mesh order.
    ShardingAttr with(MeshAttr mesh, llvm::StringRef axis, int64_t state) const;
    /// Fully replicated.
    static ShardingAttr replicated(::mlir::MLIRContext *context, int64_t rank);
    /// The local shape of a global one; dimensions must divide.
    llvm::SmallVector<int64_t> localShape(llvm::ArrayRef<int64_t> global, MeshAttr mesh) const;
  }];
}

def Dist_Origin : I32EnumAttr<"Origin", "why a collective exists", [
    I32EnumAttrCase<"F", 0, "f">, I32EnumAttrCase<"G", 1, "g">,
    I32EnumAttrCase<"SP", 2, "sp">, I32EnumAttrCase<"Zero1", 3, "zero1">,
    I32EnumAttrCase<"Embedding", 4, "embedding">, I32EnumAttrCase<"Norm", 5, "norm">,
    I32EnumAttrCase<"Loss", 6, "loss">, I32EnumAttrCase<"Gradient", 7, "gradient">,
    I32EnumAttrCase<"Saved", 8, "saved">]> {
  let description = [{
    For reports and verify-plan: `f` and `g` are Megatron's names of the
    all-reduce at the begin of a split block (in the backward) and at its end (in
    the forward); `sp` brings parts of a sequence, or samples, together or apart, `zero1` is
    the optimizer's gather, `embedding`, `norm` and `loss` the family that asked,
    `gradient` the sum over replicas, `saved` brings the parts together in which a value
    was saved.
  }];
  let cppNamespace = "::mtc::dist";
  let genSpecializedAttr = 0;
}
def Dist_OriginAttr : EnumAttr<Dist_Dialect, Dist_Origin, "origin">;
def Dist_ReduceKind : I32EnumAttr<"ReduceKind", "reduction of a collective", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">]> {
  let description = [{
    Sums add in the order of ranks; `max` is for the softmax over a split
    vocabulary.
  }];
  let cppNamespace = "::mtc::dist";
  let genSpecializedAttr = 0;
}
def Dist_ReduceKindAttr : EnumAttr<Dist_Dialect, Dist_ReduceKind, "reduce_kind">;

class Dist_Op<string mnemonic, list<Trait> traits = [Pure]> : Op<Dist_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}

def Dist_ReshardOp : Dist_Op<"reshard", [Pure, SameOperandsAndResultType]> {
  let summary = "changes the sharding of a value; global types";
  let description = [{
    Made by `insert-collectives`, removed by `partition`, which turns it into the
    collective that leads from one sharding to the other.

    Example: `%y2 = dist.reshard %y from <[{"dp"}, {}, {} ], partial = {"tp"}> to <[{"dp"}, {}, {} ]> origin g serves "layers.0.mlp.down.weight" : tensor<4x8x16xf32>`

    **Constraints:** the two shardings differ, and have the tensor's rank; a
    partial value is never made from a full one.
  }];
  let arguments = (ins AnyRankedTensor:$x, Dist_Sharding:$from, Dist_Sharding:$to,
                       Dist_OriginAttr:$origin, StrAttr:$serves);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `from` $from `to` $to `origin` `` $origin `serves` $serves attr-dict `:` type($result)";
}

def Dist_AllReduceOp : Dist_Op<"all_reduce", [Pure, SameOperandsAndResultType]> {
  let summary = "reduces over the ranks of an axis; all get the result";
  let description = [{
    ```
    rank   before   after (sum)
    0      a        a + b
    1      b        a + b
    ```

    Example: `%r = dist.all_reduce sum %x over "tp" origin g serves "w" : tensor<4x8xf32>`
  }];
  let arguments = (ins Dist_ReduceKindAttr:$kind, AnyRankedTensor:$x, StrAttr:$axis,
                       Dist_OriginAttr:$origin, StrAttr:$serves);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`` $kind $x `over` $axis `origin` `` $origin `serves` $serves attr-dict `:` type($result)";
}
def Dist_ReduceScatterOp : Dist_Op<"reduce_scatter"> {
  let summary = "sums over the ranks of an axis; each keeps its part of a dimension";
  let description = [{
    ```
    rank   before   after
    0      a0 a1    a0 + b0
    1      b0 b1    a1 + b1
    ```

    Example: `%r = dist.reduce_scatter %x dim 1 over "tp" origin sp serves "w" : tensor<4x8xf32> -> tensor<4x4xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$dim, StrAttr:$axis,
                       Dist_OriginAttr:$origin, StrAttr:$serves);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `dim` $dim `over` $axis `origin` `` $origin `serves` $serves attr-dict `:` type($x) `->` type($result)";
}
def Dist_AllGatherOp : Dist_Op<"all_gather"> {
  let summary = "collects the parts of a dimension from the ranks of an axis";
  let description = [{
    ```
    rank   before   after
    0      a        a b
    1      b        a b
    ```

    Example: `%r = dist.all_gather %x dim 1 over "tp" origin sp serves "w" : tensor<4x4xf32> -> tensor<4x8xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$dim, StrAttr:$axis,
                       Dist_OriginAttr:$origin, StrAttr:$serves);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `dim` $dim `over` $axis `origin` `` $origin `serves` $serves attr-dict `:` type($x) `->` type($result)";
}
def Dist_SliceOp : Dist_Op<"slice"> {
  let summary = "each rank keeps its part of a replicated dimension; no communication";
  let description = [{
    Example: `%r = dist.slice %x dim 1 over "tp" : tensor<4x8xf32> -> tensor<4x4xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$x, I64Attr:$dim, StrAttr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `dim` $dim `over` $axis attr-dict `:` type($x) `->` type($result)";
}
#endif // MTC_DIST_OPS

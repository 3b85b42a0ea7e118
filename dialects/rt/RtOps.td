//===- RtOps.td - bytes, launches, timelines -------------------------------===//
//
// Four parts: kernels (their bodies are scalar arithmetic), clusters (kernels
// before that), the ops inside fragments (launches, GEMMs, collectives,
// addresses), and the program around them (arenas, parameters, timelines).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RT_OPS
#define MTC_RT_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::mtc::rt";
  let summary = "the program of one rank class, nothing left to decide";
  let description = [{
    The last level. It knows bytes and calls: arenas and offsets, kernels,
    GEMMs, collectives on groups, and one table per stage of what runs
    in which order. Nothing is left to decide: `lower-to-llvm` translates. It
    does not know what the model is: a view is bytes without a name.

    A *kernel* is one loop nest over rows x cols. Its body is scalar arithmetic
    (upstream arith and math ops on f32, i32, i64) plus the ops of this dialect
    that read and write operands. `codegen-kernels` turns a body into vectors
    (CPU) or threads (PTX); it knows no op of tfm.

    A *fragment* is a function that launches kernels and calls GEMMs, attention
    and collectives on views of arenas. A *timeline* is a table of fragments and
    exchanges.

    The second product of an MLP after `lower-calls`, on tensors:

    ```mlir
    %e = tensor.empty() : tensor<1x32x64xf32>
    %c = rt.gemm %v, %w into %e m 32 n 64 k 128 {beta = false, ta = false, tb = false} : (tensor<1x32x128xf32>, tensor<128x64xf32>, tensor<1x32x64xf32>) -> tensor<1x32x64xf32>
    %r = rt.collective all_reduce %c group tp count 2048 {origin = "g", serves = "layers.0.mlp.down.weight"} : (tensor<1x32x64xf32>) -> tensor<1x32x64xf32>
    ```

    and after `plan-memory`, on views, where the destination holds the result:

    ```mlir
    %v = rt.view activations at 78976 slot of saved stride 165504 : memref<1x32x128xf32>
    %w = rt.view params at 100864 : memref<128x64xf32>
    %c = rt.view workspace at 8192 : memref<1x32x64xf32>
    rt.gemm %v, %w into %c m 32 n 64 k 128 {beta = false, ta = false, tb = false} : (memref<1x32x128xf32>, memref<128x64xf32>, memref<1x32x64xf32>) -> ()
    rt.collective all_reduce %c group tp count 2048 {origin = "g", serves = "layers.0.mlp.down.weight"} : (memref<1x32x64xf32>) -> ()
    ```

    The ops fall into four parts: bodies of kernels (`load` to `random`), clusters
    (`cluster`, `yield`), what fragments hold, and the program around them
    (`program` to `export_slot`).
  }];
  // Whose attributes its ops hold.
  let dependentDialects = ["::mtc::pipe::PipeDialect", "::mtc::dist::DistDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

include "dialects/rt/RtTables.td"
include "dialects/rt/RtInterfaces.td"

// What fragments work on: its size is known, and every element is whole bytes.
defvar Rt_Element = AnyTypeOf<[F32, F64, BF16, F16, I8, I32, I64]>;
def Rt_View : StaticShapeMemRefOf<[Rt_Element]>;
def Rt_Tensor : StaticShapeTensorOf<[Rt_Element]>;
def Rt_Buffer : AnyTypeOf<[Rt_Tensor, Rt_View],
                          "a tensor or memref of static shape">;

//===--- kernels -------------------------------------------------------------===//

def Rt_Mode : I32EnumAttr<"Mode", "how a kernel operand is addressed", [
    I32EnumAttrCase<"Full", 0, "full">, I32EnumAttrCase<"Row", 1, "row">,
    I32EnumAttrCase<"Col", 2, "col">, I32EnumAttrCase<"Scalar", 3, "scalar">,
    I32EnumAttrCase<"Periodic", 4, "periodic">, I32EnumAttrCase<"Table", 5, "table">]> {
  let description = [{
    The element that each mode means at row r and column c is in the table of
    `#rt.operand`.
  }];
  let cppNamespace = "::mtc::rt";
  let genSpecializedAttr = 0;
}
def Rt_Operand : AttrDef<Rt_Dialect, "Operand"> {
  let mnemonic = "operand";
  let summary = "one operand of a kernel";
  let description = [{
    With r the row and c the column of the iteration, an operand of mode

    | mode | extent | element at (r, c) |
    |---|---|---|
    | full | rows x cols | r, c |
    | row | rows | r |
    | col | cols | c |
    | scalar | 1 | 0 |
    | periodic | extent x cols | r mod extent, c |
    | table | extent x cols | row named by an index, c (rt.gather, rt.scatter_add) |

    `extent` is 0 where the mode needs none. Operands do not alias; one operand may
    be read and written at the same element.

    Example: `#rt.operand<mode = periodic, element = f32, extent = 8>`
  }];
  let parameters = (ins EnumParameter<Rt_Mode>:$mode, "::mlir::Type":$element, "int64_t":$extent);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Rt_KernelOp : Op<Rt_Dialect, "kernel", [Symbol, NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "one loop nest over rows x cols";
  let description = [{
    Rows run in ascending order; `accumulate` and `scatter_add` therefore add in
    row order. Inside a row, element values may be computed in any order but a
    `row_reduce` has the fixed lane tree of the target (docs/numerics.md). A value
    depends on the column if it comes from a full, col, periodic or table
    operand, `index col` or `random` with a column-dependent element; else it is
    uniform over the row.

    `cols` = -1: the number of columns is the last i64 argument (flat ranges;
    rows is then 1). `args` is the number of i64 arguments before that.

    A `guarded` one belongs to the update of a step: where that is left out, because
    the norm of the gradients says so (`applies` in `step_field.h`), it does nothing. On
    a GPU it looks by itself, so that the host need not wait for the norm; a host runs
    no fragment of the update then.

    A `tiled` one is called for blocks of its rows and columns, by a product whose
    result it reads (`continues` of rt.launch): its elements know nothing of each other.

    The function that codegen makes is `void name(ptr operand0, ..., i64 arg0, ...)`;
    of a tiled one the first row, the one behind the last, and the same of columns follow.

    Example:
    ```
    rt.kernel @bias_gelu rows 32 cols 128 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>,
        #rt.operand<mode = col, element = f32, extent = 0>,
        #rt.operand<mode = full, element = f32, extent = 0>] {
      %x = rt.load 0 : f32
      %b = rt.load 1 : f32
      %s = arith.addf %x, %b : f32
      %t = math.tanh %s : f32
      rt.store 2, %t : f32
    }
    rt.kernel @sgd rows 1 cols -1 args 0 [
        #rt.operand<mode = full, element = f32, extent = 0>,
        #rt.operand<mode = full, element = f32, extent = 0>] guarded {
      %p = rt.load 0 : f32
      %g = rt.load 1 : f32
      %q = arith.subf %p, %g : f32
      rt.store 0, %q : f32
    }
    ```

    **Constraints:** body ops name operands in range, with the mode that they
    need; the body holds only arith, math and rt ops. What `apply` launches is guarded,
    and nothing else is (verify-plan). A tiled one holds loads of operands in any mode but
    table, stores to full ones, and arithmetic.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Rt_Int:$rows, Rt_Int:$cols, Rt_Int:$args,
                       TypedArrayAttrBase<Rt_Operand, "kernel operands">:$operands_info,
                       UnitAttr:$guarded, UnitAttr:$tiled);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `rows` $rows `cols` $cols `args` $args $operands_info (`guarded` $guarded^)? (`tiled` $tiled^)? $body attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What the body does with each operand, by its index.
    ::llvm::SmallVector<::mtc::rt::AccessKind> getOperandAccesses();
    /// The operands that it writes, ascending.
    ::llvm::SmallVector<int64_t> getWrittenOperands();
    /// Whether an element of what it writes depends on nothing that it computes for
    /// another: any part of its rows and columns may be computed by itself.
    bool isElementwise();
  }];
}

def Rt_KernelBody : NativeOpTrait<"KernelBodyOp"> {
  let cppNamespace = "::mtc::rt";
}
class Rt_BodyOp<string mnemonic, list<Trait> traits = []>
    : Op<Rt_Dialect, mnemonic, !listconcat(traits, [Rt_KernelBody])>;

def Rt_LoadOp : Rt_BodyOp<"load"> {
  let summary = "the current element of an operand";
  let description = [{Example: `%x = rt.load 0 : f32`}];
  let arguments = (ins Rt_Int:$operand);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}
def Rt_StoreOp : Rt_BodyOp<"store"> {
  let summary = "writes the current element of a full or row operand";
  let description = [{Example: `rt.store 2, %y : f32`}];
  let arguments = (ins Rt_Int:$operand, AnyType:$value);
  let assemblyFormat = "$operand `,` $value attr-dict `:` type($value)";
}
def Rt_AccumulateOp : Rt_BodyOp<"accumulate"> {
  let summary = "adds to the current element of a col, periodic, scalar, row or full operand";
  let description = [{
    For col, periodic and scalar the rows add in ascending order. A scalar operand takes a
    row-uniform value only. To an operand of 16 bits a value is added in f32, and the sum is
    rounded once.

    Example: `rt.accumulate 3, %dy : f32`
  }];
  let arguments = (ins Rt_Int:$operand, AnyType:$value);
  let assemblyFormat = "$operand `,` $value attr-dict `:` type($value)";
}
def Rt_GatherOp : Rt_BodyOp<"gather"> {
  let summary = "the element of a table operand at a row-uniform index; 0 outside";
  let description = [{Example: `%e = rt.gather 1 at %row : f32`}];
  let arguments = (ins Rt_Int:$operand, I32:$row);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$operand `at` $row attr-dict `:` type($result)";
}
def Rt_ScatterAddOp : Rt_BodyOp<"scatter_add"> {
  let summary = "adds to a table operand at a row-uniform index; nothing outside";
  let description = [{Example: `rt.scatter_add 1 at %row, %dy : f32`}];
  let arguments = (ins Rt_Int:$operand, I32:$row, AnyType:$value);
  let assemblyFormat = "$operand `at` $row `,` $value attr-dict `:` type($value)";
}
def Rt_ReduceKind : I32EnumAttr<"ReduceKind", "row reduction", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">]> {
  let description = [{
    Both have the lane tree of the target (docs/numerics.md).
  }];
  let cppNamespace = "::mtc::rt";
  let genSpecializedAttr = 0;
}
def Rt_ReduceKindAttr : EnumAttr<Rt_Dialect, Rt_ReduceKind, "reduce_kind">;
def Rt_RowReduceOp : Rt_BodyOp<"row_reduce", [Pure, SameOperandsAndResultType]> {
  let summary = "sum or maximum of a value over the columns of the row";
  let description = [{Example: `%s = rt.row_reduce sum %x : f32`}];
  let arguments = (ins Rt_ReduceKindAttr:$kind, F32:$value);
  let results = (outs F32:$result);
  let assemblyFormat = "`` $kind $value attr-dict `:` type($result)";
}
def Rt_IndexKind : I32EnumAttr<"IndexKind", "iteration index", [
    I32EnumAttrCase<"Row", 0, "row">, I32EnumAttrCase<"Col", 1, "col">]> {
  let description = [{
    Both count from 0.
  }];
  let cppNamespace = "::mtc::rt";
  let genSpecializedAttr = 0;
}
def Rt_IndexKindAttr : EnumAttr<Rt_Dialect, Rt_IndexKind, "index_kind">;
def Rt_IndexOp : Rt_BodyOp<"index", [Pure]> {
  let summary = "the current row or column";
  let description = [{Example: `%c = rt.index col : i32`}];
  let arguments = (ins Rt_IndexKindAttr:$kind);
  let results = (outs I32:$result);
  let assemblyFormat = "`` $kind attr-dict `:` type($result)";
}
def Rt_ArgOp : Rt_BodyOp<"arg", [Pure]> {
  let summary = "an i64 argument of the kernel";
  let description = [{
    Such as the RNG address of its first sample; `rt.launch` gives it.

    Example: `%sample = rt.arg 0 : i64`
  }];
  let arguments = (ins Rt_Int:$index);
  let results = (outs I64:$result);
  let assemblyFormat = "$index attr-dict `:` type($result)";
}
def Rt_RandomOp : Rt_BodyOp<"random", [Pure]> {
  let summary = "one 32-bit word of Philox4x32-10 (docs/numerics.md)";
  let description = [{
    Key = seed; counter = (element / 4, layer << 8 | site, sample); the word
    `element mod 4` is taken. seed, sample and layer are row-uniform. The layer is a value, so that
    layers which differ in nothing else share a kernel.

    Example: `%w = rt.random %seed, %sample, %layer, %element {site = 2 : i64} : i32`
  }];
  let arguments = (ins I64:$seed, I64:$sample, I64:$layer, I32:$element, Rt_Int:$site);
  let results = (outs I32:$result);
  let assemblyFormat = "$seed `,` $sample `,` $layer `,` $element attr-dict `:` type($result)";
}
def Rt_LogisticOp : Rt_BodyOp<"logistic", [Pure, SameOperandsAndResultType]> {
  let summary = "1 / (1 + e^-x), within 4 units in the last place";
  let description = [{
    What GELU (in its tanh form) and SiLU multiply x with. A function of its own, as it needs no
    exact division and does not cancel where tanh is near -1. Below -87.3, where it is less than
    1.3e-38, it is 0.

    Example: `%s = rt.logistic %x : f32`
  }];
  let arguments = (ins F32:$value);
  let results = (outs F32:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

include "dialects/rt/RtCluster.td"
include "dialects/rt/RtFragments.td"
include "dialects/rt/RtProgram.td"
#endif // MTC_RT_OPS

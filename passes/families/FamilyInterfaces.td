//===- FamilyInterfaces.td - what passes ask of an op ----------------------===//
//
// Families implement them for ops of tfm as external models: the dialect says
// what is computed, passes/families how that is split, differentiated and
// written as a kernel.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_FAMILY_INTERFACES
#define MTC_FAMILY_INTERFACES

include "mlir/IR/Interfaces.td"

class Family_Interface<string name> : OpInterface<name> {
  let cppNamespace = "::mtc::families";
}

def FamilyOpInterface : Family_Interface<"FamilyOpInterface"> {
  let description = [{
    What every op of a family has: the family's name, its sharding rule, and the reason where it has
    no gradient or no body.
  }];
  let methods = [
    InterfaceMethod<"The family that it is of.", "::mtc::OpFamily", "getFamily">,
    InterfaceMethod<"How its dimensions correspond, of global or local types.",
        "::mtc::families::ShardingRule", "getShardingRule">,
    InterfaceMethod<"Why it has no gradient; empty if it has one.",
        "::llvm::StringRef", "getNoGradient">,
    InterfaceMethod<"Why it has no kernel body; empty if it has one.",
        "::llvm::StringRef", "getNoBody">];
}

def GradientOpInterface : Family_Interface<"GradientOpInterface"> {
  let description = [{
    Builds the cotangents of an op's operands. `cotangents[i]` belongs to result i
    and is null where nothing flows. Gives one value per operand, null where no
    gradient flows; fails after a diagnostic. The builder marks what it makes as
    backward; values of the forward may be used directly (`differentiate` saves
    them).
  }];
  let methods = [
    InterfaceMethod<"The cotangents of its operands.",
        "::mlir::FailureOr<::mtc::families::Values>", "buildGradient",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents)>];
}

def KernelBodyOpInterface : Family_Interface<"KernelBodyOpInterface"> {
  let description = [{
    Emits the op as scalar arithmetic (arith, math, rt) into a kernel body.
    `operands` are the element values of the op's operands at the current position.
    Gives one element value per result; fails after a diagnostic. See
    kernel_body.h.
  }];
  let methods = [
    InterfaceMethod<"Element values of its results.",
        "::mlir::FailureOr<::mtc::families::Values>", "emitBody",
        (ins "::mtc::families::BodyContext &":$context, "::mlir::ValueRange":$operands)>];
}

def EvalOpInterface : Family_Interface<"EvalOpInterface"> {
  let description = [{
    An op that computes something else where nothing is trained: one that draws
    random words. Others are in the entry `eval` as they are.
  }];
  let methods = [
    InterfaceMethod<"Makes it what it is in eval, in place or by replacing it.",
        "void", "makeEval", (ins "::mlir::RewriterBase &":$rewriter)>];
}
#endif // MTC_FAMILY_INTERFACES

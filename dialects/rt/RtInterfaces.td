//===- RtInterfaces.td - what ops do with their buffers, and how much --------===//
//
// The one place that says it: memory effects, streams and verify-plan ask for the
// first, reports for the second.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RT_INTERFACES
#define MTC_RT_INTERFACES

include "mlir/IR/OpBase.td"

def Rt_AccessOpInterface : OpInterface<"AccessOpInterface"> {
  let cppNamespace = "::mtc::rt";
  let description = [{
    An op of a fragment that works on buffers. Of each operand that is one it says
    whether the op reads, writes or adds to it. Memory effects follow from that on
    memrefs. Tensors are values, on which there are none: what is written into one is
    the result that it is tied to (DestinationStyleOpInterface).
  }];
  let methods = [
    InterfaceMethod<"What the op does with each of its buffers, in order.",
      "::llvm::SmallVector<::mtc::rt::Access>", "getAccesses", (ins)>
  ];
  let verify = [{ return ::mtc::rt::verifyDestinations($_op); }];
}

def Rt_WorkOpInterface : OpInterface<"WorkOpInterface"> {
  let cppNamespace = "::mtc::rt";
  let description = [{
    An op of a fragment that takes time on a device: what it computes and moves, as it
    follows from shapes, types and, of a launch, the body of its kernel.
  }];
  let methods = [
    InterfaceMethod<"What one call computes and moves on a rank of the mesh.",
      "::mtc::rt::Work", "getWork", (ins "const ::mtc::Mesh &":$mesh)>,
    InterfaceMethod<"Equal for calls that do the same on other buffers; for people.",
      "std::string", "describeCall", (ins)>
  ];
}
#endif // MTC_RT_INTERFACES

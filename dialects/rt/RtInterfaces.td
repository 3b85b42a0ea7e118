//===- RtInterfaces.td - what ops do with their buffers ---------------------===//
//
// The one place that says it: memory effects, streams and verify-plan ask here.
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
#endif // MTC_RT_INTERFACES

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
    An op of a fragment that works on buffers. Of each operand that is one, and of
    each result that would be one on views, it says whether the op reads, writes or
    adds to it. Memory effects follow from that on views; on tensors, which nothing
    writes, there are none.
  }];
  let methods = [
    InterfaceMethod<"What the op does with each of its buffers, operands before results.",
      "::llvm::SmallVector<::mtc::rt::Access>", "getAccesses", (ins)>
  ];
}
#endif // MTC_RT_INTERFACES

//===- RtCluster.td - a kernel before its body is scalar arithmetic ---------===//
//
// Included by RtOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RT_CLUSTER
#define MTC_RT_CLUSTER

def Rt_ClusterOp : Op<Rt_Dialect, "cluster", [SingleBlock, NoRegionArguments, RecursiveMemoryEffects,
                       SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "ops that become one kernel";
  let description = [{
    Ops of `tfm`, and sinks: `pipe.accumulate`, `pipe.loss`. The region reads what
    stands before it; what is read behind it is yielded. A sum over rows whose only
    reader is a sink is added to the accumulator in place.

    `form-clusters` makes it and `outline-kernels` turns it into a kernel and a
    launch; between the two it may be edited. An op moves into a cluster or out of
    it, a cluster is split or two are joined, as long as every value is made before
    it is read and yielded where it is read behind. What cannot be one loop nest
    `outline-kernels` rejects, with the op that does not fit.

    Two clusters that were one, and one that nobody reads, of a bias gradient:

    Example:
    ```
    %s = rt.cluster -> (tensor<1x32x128xf32>) {
      %b2 = tfm.broadcast %b dims [2] : tensor<128xf32> -> tensor<1x32x128xf32>
      %u2 = tfm.add %u, %b2 : tensor<1x32x128xf32>
      rt.yield %u2 : tensor<1x32x128xf32>
    }
    %v = rt.cluster -> (tensor<1x32x128xf32>) {
      %a = tfm.activation relu %s : tensor<1x32x128xf32>
      rt.yield %a : tensor<1x32x128xf32>
    }
    rt.cluster {
      %db = tfm.reduce sum %dz dims [0, 1] : tensor<1x32x128xf32> -> tensor<128xf32>
      pipe.accumulate %db to "layers.0.mlp.up.bias" use 0 : tensor<128xf32>
    }
    ```

    **Constraints:** at least one op; only ops of tfm, pipe.accumulate and
    pipe.loss; it yields values that its ops make, of the types of its results.
  }];
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`->` `(` type($results)^ `)`)? $body attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// What it yields; the operands are as many as the results.
    ::mtc::rt::YieldOp getYield();
    /// Its ops in order, without the terminator.
    auto ops() { return getBody().front().without_terminator(); }
  }];
}
def Rt_YieldOp : Op<Rt_Dialect, "yield", [Pure, Terminator, HasParent<"::mtc::rt::ClusterOp">]> {
  let summary = "the results of a cluster";
  let description = [{
    One value per result, in order; left out where there is none.

    Example:
    ```
    %e, %l = rt.cluster -> (tensor<4x8xf32>, tensor<4x8xf32>) {
      %a = tfm.exp %x : tensor<4x8xf32>
      %b = tfm.log %a : tensor<4x8xf32>
      rt.yield %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ /* no values */ }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}
#endif // MTC_RT_CLUSTER

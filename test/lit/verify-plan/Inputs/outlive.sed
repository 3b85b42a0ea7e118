# Makes of grid.mlir a plan for a device with two streams, in which a collective of
# forward outlives it: both microbatches run forward first, each in a slot of its own,
# and backward reads what the collective leaves in bytes 320 to 576 of the slot.
s/device = "cpu"/device = "cuda:sm_90"/
s/stride 320/stride 576/
/func.func @stage0_fwd/,/return/{
  # before any wait: beside the collective of the microbatch before
  /func.func/{
    s/rt.collectives = \[\(.*\)\]/rt.collectives = [\1, {count = 64 : i64, group = "tp", kind = "all_reduce", serves = "layers.0.w"}]/
    a\      %0 = rt.view activations at 320 slot of saved stride 576 : memref<16x4xf32>\
      rt.zero %0 : (memref<16x4xf32>) -> ()
  }
  # the sum of the table's parts, on the stream of collectives
  /rt.collective all_reduce %4/{
    i\      rt.record event 0 stream 0\
      rt.wait event 0 stream 1
    s/serves = "embed.tokens"/&, stream = 1 : i64/
    a\      rt.record event 1 stream 1\
      rt.wait event 1 stream 0
  }
  # the collective that nobody waits for here
  s/%13 = .*/%13 = rt.view activations at 320 slot of saved stride 576 : memref<16x4xf32>/
  /@scale(%11/a\      rt.record event 2 stream 0\
      rt.wait event 2 stream 1\
      rt.collective all_reduce %13 group tp count 64 {serves = "layers.0.w", stream = 1 : i64} : (memref<16x4xf32>) -> ()\
      rt.record event 3 stream 1
}
/func.func @stage0_bwd/,/return/{
  /func.func/a\      rt.wait event 3 stream 0
  s/%1 = .*/%1 = rt.view activations at 320 slot of saved stride 576 : memref<16x4xf32>/
}
/rt.timeline @train/,/}/{
  /run @stage0_bwd microbatch 0/d
  /run @stage0_fwd microbatch 1/a\      rt.step run @stage0_bwd microbatch 0 slots <saved = 0>
  /microbatch 1/s/saved = 0/saved = 1/
}

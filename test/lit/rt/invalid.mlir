// RUN: mtc-opt %s -split-input-file -verify-diagnostics
// Tests that each branch of the rt verifiers fires.

// expected-error @+1 {{expected rows >= 1 and cols >= 1 or -1, found 0 x 4}}
rt.kernel @k rows 0 cols 4 args 0 [] {
  %c = rt.index col : i32
}
// -----
// expected-error @+1 {{expected 1 row where cols is dynamic, found 2}}
rt.kernel @k rows 2 cols -1 args 0 [] {
  %c = rt.index col : i32
}
// -----
rt.kernel @k rows 2 cols 4 args 0 [] {
  // expected-error @+1 {{expected an operand index below 0, found 0}}
  %x = rt.load 0 : f32
}
// -----
rt.kernel @k rows 2 cols 4 args 0 [#rt.operand<mode = table, element = f32, extent = 8>] {
  // expected-error @+1 {{expected an operand of mode full, row, col, scalar, periodic, found table}}
  %x = rt.load 0 : f32
}
// -----
rt.kernel @k rows 2 cols 4 args 0 [#rt.operand<mode = full, element = f32, extent = 0>] {
  // expected-error @+1 {{expected a value of the operand's type 'f32', found 'i32'}}
  %x = rt.load 0 : i32
}
// -----
rt.kernel @k rows 2 cols 4 args 0 [#rt.operand<mode = col, element = f32, extent = 0>] {
  %x = rt.load 0 : f32
  // expected-error @+1 {{expected an operand of mode full, row, found col}}
  rt.store 0, %x : f32
}
// -----
rt.kernel @k rows 2 cols 4 args 1 [] {
  // expected-error @+1 {{expected an argument index below 1, found 1}}
  %a = rt.arg 1 : i64
}
// -----
rt.kernel @k rows 2 cols 4 args 0 [] {
  // expected-error @+1 {{expected only arith, math and rt ops in a kernel}}
  %a = tfm.fill 0.0 : tensor<f32>
}
// -----
func.func @view_arena() {
  // expected-error @+2 {{expected an arena (params, grads, optimizer, activations, workspace, step or packed), found garage}}
  // expected-error @+1 {{failed to parse Rt_Arena parameter}}
  %v = rt.view garage at 0 : memref<4xf32>
  return
}
// -----
func.func @view_pool() {
  // expected-error @+2 {{expected a pool (recv_activation, recv_gradient, send_activation, send_gradient, saved, split, operand, saved_again, split_again or operand_again, or of a further value, as in recv_activation.1), found garage}}
  // expected-error @+1 {{failed to parse Rt_Pool parameter}}
  %v = rt.view activations at 0 slot of garage stride 0 : memref<4xf32>
  return
}
// -----
func.func @view_without_a_slot() {
  // expected-error @+1 {{expected a slot in the arena activations, found none}}
  %v = rt.view activations at 0 : memref<4xf32>
  return
}
// -----
func.func @view_of_no_slot() {
  // expected-error @+1 {{expected no slot in the arena params, found one}}
  %v = rt.view params at 0 slot of saved stride 64 : memref<4xf32>
  return
}
// -----
func.func @view_of_the_step() {
  // expected-error @+1 {{expected an arena of values, found step, whose fields rt.step_field gives}}
  %v = rt.view step at 0 : memref<4xf32>
  return
}
// -----
func.func @field_that_kernels_do_not_read() {
  // expected-error @+2 {{expected a field of the step block that kernels read (lr, weight_decay, beta1, beta2, one_minus_beta1, one_minus_beta2, eps, inv_bias1, inv_bias2, momentum, clip_coeff or loss_scale), found seed}}
  // expected-error @+1 {{failed to parse Rt_StepField parameter}}
  %f = rt.step_field seed : memref<1xf32>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{expected a group only of a field that has values for groups, found it of eps}}
  %f = rt.step_field eps group 1 : memref<1xf32>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{expected a group of 1 to 15, found 16}}
  %f = rt.step_field lr group 16 : memref<1xf32>
  return
}
// -----
func.func @view_that_names_none() {
  // expected-error @+2 {{expected a pool (recv_activation, recv_gradient, send_activation, send_gradient, saved, split, operand, saved_again, split_again or operand_again, or of a further value, as in recv_activation.1)}}
  // expected-error @+1 {{failed to parse Rt_Pool parameter}}
  %v = rt.view activations at 0 slot of 7 stride 0 : memref<4xf32>
  return
}
// -----
func.func @affine() {
  // expected-error @+1 {{expected a number or one of tp, cp, dp, pp, microbatch, sample, seed}}
  %v = rt.affine <3 * ep> : i64
  return
}
// -----
rt.timeline @train {
  // expected-error @+1 {{expected a fragment to run, found none}}
  rt.step run microbatch 0
}
// -----
rt.timeline @train {
  // expected-error @+1 {{expected no fragment to load, found one}}
  rt.step load @f microbatch 0
}
// -----
rt.timeline @train {
  // expected-error @+1 {{expected a microbatch to load, found none}}
  rt.step load
}
// -----
func.func @state_without_a_name() {
  // expected-error @+1 {{expected the name of a state, found none}}
  %g = rt.ref state of 0 : memref<1xf32>
  return
}
// -----
func.func @name_without_a_state() {
  // expected-error @+1 {{expected the name of a state only where the part is one, found exp_avg}}
  %g = rt.ref grad "exp_avg" of 0 : memref<1xf32>
  return
}
// -----
// expected-error @+1 {{expected an offset for each of 2 states, found 1}}
rt.bucket 0 elements 64 unpadded 64 shard 64 {states = ["exp_avg", "exp_avg_sq"], state_offsets = array<i64: 0>}
// -----
// expected-error @+1 {{expected accumulators only in a bucket that is a second use, found parameters or states}}
rt.bucket 1 elements 64 unpadded 64 shard 64 second_use_of 0 {states = ["exp_avg"]}
// -----
// expected-error @+1 {{expected a sharding of 2 dimensions, found 1}}
rt.export_slot "logits" of @f workspace at 0 sharding #dist.sharding<[{"tp"}]> local tensor<2x4xf32>
// -----
// expected-error @+1 {{expected one mesh axis at most that splits dimensions behind the first in equal parts, and one that splits another in a head and a tail, found several}}
rt.export_slot "logits" of @f workspace at 0 sharding #dist.sharding<[{}, {"tp", "dp"}]> local tensor<2x4xf32>
// -----
// expected-error @+1 {{found several}}
rt.export_slot "logits" of @f workspace at 0 sharding #dist.sharding<[{}, {"cp", "tp"}]> local tensor<2x4xf32>
// -----
rt.timeline @train {
  // expected-error @+2 {{failed to parse Rt_Transfer parameter 'tag'}}
  // expected-error @+1 {{expected fewer than 1048576 microbatches and 1024 virtual stages, found microbatch 0 of virtual stage 1024}}
  rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 1024>, offset = 0, bytes = 64>]
}
// -----
func.func @loss_of_a_bucket() {
  // expected-error @+1 {{expected no bucket of the loss or of a parameter, found one}}
  %l = rt.ref loss of 0 : memref<1xf32>
  return
}
// -----
func.func @grad_of_none() {
  // expected-error @+1 {{expected a bucket of which this is a part, found none}}
  %g = rt.ref grad : memref<1xf32>
  return
}
// -----
// expected-error @+1 {{expected in a tiled kernel, which is called for blocks of its elements, no guard, and only loads, stores to full operands and arithmetic; found another}}
rt.kernel @tiled_sum rows 4 cols 4 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = col, element = f32, extent = 0>] tiled {
  %x = rt.load 0 : f32
  rt.accumulate 1, %x : f32
}
// -----
// expected-error @+1 {{expected in a tiled kernel, which is called for blocks of its elements, no guard}}
rt.kernel @tiled_rows rows 4 cols 4 args 0 [#rt.operand<mode = row, element = f32, extent = 0>] tiled {
  %x = rt.load 0 : f32
  rt.store 0, %x : f32
}
// -----
// expected-error @+1 {{expected in a tiled kernel, which is called for blocks of its elements, no guard}}
rt.kernel @tiled_any rows 1 cols -1 args 0 [#rt.operand<mode = full, element = f32, extent = 0>] tiled {
  %x = rt.load 0 : f32
  rt.store 0, %x : f32
}
// -----
func.func @launch_results(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the number of tensor results (1) to be equal to the number of output tensors (0)}}
  %y = rt.launch @k(%x) args() writes [] : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @launch_types(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a type for each of 2 buffers, found 1}}
  %y = rt.launch @k(%x, %x) args() writes [1] : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @launch_writes_beyond(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected different numbers of operands in writes, below 2, found 2}}
  %y = rt.launch @k(%x, %x) args() writes [2] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @launch_writes_twice(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected different numbers of operands in writes, below 2, found 1}}
  %y:2 = rt.launch @k(%x, %x) args() writes [1, 1] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
// -----
func.func @launch_writes_few(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected one number in writes per buffer to write into (1), found 0}}
  %y = "rt.launch"(%x, %x) {kernel = @k, writes = array<i64>, operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @launch_tensor_behind_memref(%x: tensor<4xf32>, %g: memref<4xf32>) {
  // expected-error @+1 {{expected tensors that it writes into before memrefs, found 'memref<4xf32>', 'tensor<4xf32>'}}
  %y = rt.launch @k(%x, %g) args() writes [1, 0] : (tensor<4xf32>, memref<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @gemm_elements(%x: tensor<4x4xf32>, %e: tensor<4x5xf32>) {
  // expected-error @+1 {{expected b of 20 elements, found 'tensor<4x4xf32>'}}
  %y = rt.gemm %x, %x into %e m 4 n 5 k 4 {ta = false, tb = false, beta = false} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_a(%x: tensor<4x4xf32>, %y: tensor<3x5xf32>, %e: tensor<4x5xf32>) {
  // expected-error @+1 {{expected a of 12 elements, found 'tensor<4x4xf32>'}}
  %z = rt.gemm %x, %y into %e m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x4xf32>, tensor<3x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_result(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>, %e: tensor<4x4xf32>) {
  // expected-error @+1 {{expected c of 20 elements, found 'tensor<4x4xf32>'}}
  %z = rt.gemm %x, %y into %e m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
// -----
func.func @gemm_of_one_type(%x: tensor<4x3xbf16>, %y: tensor<3x5xf32>, %e: tensor<4x5xf32>) {
  // expected-error @+1 {{expected a and b of one element type, found 'tensor<4x3xbf16>' and 'tensor<3x5xf32>'}}
  %z = rt.gemm %x, %y into %e m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x3xbf16>, tensor<3x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_of_packed_bytes(%x: tensor<4x3xf32>, %y: memref<72xf32>, %e: tensor<4x5xf32>) {
  // expected-error @+1 {{expected the bytes of a packed b, found 'memref<72xf32>'}}
  %z = rt.gemm %x, %y into %e m 4 n 5 k 3 by own_packed {ta = false, tb = false, beta = false} : (tensor<4x3xf32>, memref<72xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @pack_of_another_shape(%w: tensor<3x5xf32>, %p: memref<288xi8>) {
  // expected-error @+1 {{expected b of k·n elements, 4 times 5, found 'tensor<3x5xf32>'}}
  rt.pack %w into %p n 5 k 4 {tb = false} : tensor<3x5xf32>, memref<288xi8>
  return
}
// -----
func.func @pack_into_floats(%w: tensor<3x5xf32>, %p: memref<72xf32>) {
  // expected-error @+1 {{expected to pack into bytes, found 'memref<72xf32>'}}
  rt.pack %w into %p n 5 k 3 {tb = false} : tensor<3x5xf32>, memref<72xf32>
  return
}
// -----
rt.program @packed_nothing stage 0 {
  // expected-error @+1 {{expected n and k of 1 to 2^31 - 1, and 1 to 2^48 - 1 bytes, found 5, 0 and 288}}
  rt.packed 0 of "w" n 5 k 0 bytes 288 {tb = false, type = f32}
}
// -----
rt.program @packed_all stage 0 {
  // expected-error @+1 {{and 1 to 2^48 - 1 bytes, found 5, 3 and 9223372036854775807}}
  rt.packed 0 of "w" n 5 k 3 bytes 9223372036854775807 {tb = false, type = f32}
}
// -----
rt.program @packed_numbers stage 0 {
  // expected-error @+1 {{expected a weight of type f32, bf16 or f16, found 'index'}}
  rt.packed 0 of "w" n 5 k 3 bytes 288 {tb = false, type = index}
}
// -----
func.func @pack_of_more_than_there_is(%w: tensor<4x3xf32>, %p: memref<288xi8>) {
  // expected-error @+1 {{expected b of k·n elements, 8589934594 times 6442450944, found 'tensor<4x3xf32>'}}
  rt.pack %w into %p n 6442450944 k 8589934594 {tb = false} : tensor<4x3xf32>, memref<288xi8>
  return
}
// -----
func.func @packed_has_a_number() {
  // expected-error @+1 {{expected the number of an rt.packed, found none}}
  %p = rt.ref packed : memref<288xi8>
  return
}
// -----
func.func @gemm_narrows_nothing(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>, %e: tensor<4x5xbf16>) {
  // expected-error @+1 {{expected the product in f32 or in the operands' type, found 'tensor<4x5xbf16>'}}
  %z = rt.gemm %x, %y into %e m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x5xbf16>) -> tensor<4x5xbf16>
  return
}
// -----
func.func @gemm_bias(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>, %e: tensor<4x5xf32>) {
  // expected-error @+1 {{expected bias of 5 elements, found 'tensor<4x3xf32>'}}
  %z = rt.gemm %x, %y bias %x into %e m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_aux(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>, %e: tensor<4x5xf32>) {
  // expected-error @+1 {{expected aux of 20 elements, found 'tensor<4x3xf32>'}}
  %z:2 = rt.gemm %x, %y into %e aux %x m 4 n 5 k 3 gelu {ta = false, tb = false, beta = false} : (tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x5xf32>, tensor<4x3xf32>) -> (tensor<4x5xf32>, tensor<4x3xf32>)
  return
}
// -----
func.func @gemm_bias_of_c(%x: tensor<4x3xbf16>, %y: tensor<3x5xbf16>, %b: tensor<5xbf16>, %e: tensor<4x5xf32>) {
  // expected-error @+1 {{expected bias and aux of the type of c, 'f32', found 'tensor<5xbf16>'}}
  %z = rt.gemm %x, %y bias %b into %e m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x3xbf16>, tensor<3x5xbf16>, tensor<5xbf16>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_added_with_bias(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>, %b: tensor<5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{expected no bias and no gelu of a product that is added to c (beta)}}
  %z = rt.gemm %x, %y bias %b into %c m 4 n 5 k 3 {ta = false, tb = false, beta = true} : (tensor<4x3xf32>, tensor<3x5xf32>, tensor<5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_aux_without_gelu(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>, %e: tensor<4x5xf32>, %f: tensor<4x5xf32>) {
  // expected-error @+1 {{expected gelu where there is aux, which has what gelu reads}}
  %z:2 = rt.gemm %x, %y into %e aux %f m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
  return
}
// -----
func.func @gemm_aux_without_a_result(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>, %e: tensor<4x5xf32>, %f: tensor<4x5xf32>) {
  // expected-error @+1 {{expected the number of tensor results (1) to be equal to the number of output tensors (2)}}
  %z = rt.gemm %x, %y into %e aux %f m 4 n 5 k 3 gelu {ta = false, tb = false, beta = false} : (tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_without_a_result(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  rt.gemm %x, %y into %c m 4 n 5 k 3 {ta = false, tb = false, beta = true} : (tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x5xf32>) -> ()
  return
}
// -----
func.func @gemm_into_memory(%x: memref<4x3xf32>, %y: memref<3x5xf32>, %c: memref<4x5xf32>) {
  // expected-error @+1 {{expected the number of tensor results (1) to be equal to the number of output tensors (0)}}
  %z = rt.gemm %x, %y into %c m 4 n 5 k 3 {ta = false, tb = false, beta = false} : (memref<4x3xf32>, memref<3x5xf32>, memref<4x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @gemm_of_nothing(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>, %e: tensor<4x5xf32>) {
  // expected-error @+1 {{expected m, n and k of at least 1, found 4, 0 and 3}}
  %z = rt.gemm %x, %y into %e m 4 n 0 k 3 {ta = false, tb = false, beta = false} : (tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
func.func @ref() {
  // expected-error @+2 {{expected ::mtc::rt::RefKind to be one of: param, grad, state, loss}}
  // expected-error @+1 {{failed to parse Rt_RefKindAttr parameter}}
  %g = rt.ref momentum of 0 : memref<16x64xf32>
  return
}
// -----
func.func @guarded_tensor(%e: tensor<4xf32>) {
  // expected-error @+1 {{'rt.zero' op expected a memref of a guarded op, whose bytes stay where it does nothing, found 'tensor<4xf32>'}}
  %z = rt.zero %e guarded : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @zero(%e: tensor<4xf32>) {
  // expected-error @+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  rt.zero %e : (tensor<4xf32>) -> ()
  return
}
// -----
func.func @norm_action() {
  // expected-error @+1 {{expected ::mtc::rt::NormAction to be one of: reset, accumulate, finish, check}}
  rt.norm end
  // expected-error @+1 {{failed to parse Rt_NormActionAttr parameter}}
  return
}
// -----
func.func @norm_of_nothing() {
  // expected-error @+1 {{expected a range and a length to accumulate, found one missing}}
  rt.norm accumulate
  return
}
// -----
func.func @norm_reset(%g: memref<4xf32>) {
  // expected-error @+1 {{expected a range and a length only to accumulate, found one}}
  rt.norm reset of %g : memref<4xf32>
  return
}
// -----
func.func @norm_of_what_is_finished() {
  // expected-error @+1 {{expected what continues a sum to accumulate, found finish}}
  rt.norm finish continues
  return
}
// -----
func.func @norm_check_of_nothing() {
  // expected-error @+1 {{expected a range and no length to check, found another}}
  rt.norm check
  return
}
// -----
func.func @norm_reduce(%g: memref<4xf32>) {
  // expected-error @+1 {{expected no buffer of a norm_reduce, found one}}
  rt.collective norm_reduce %g group all count 1 : (memref<4xf32>) -> ()
  return
}
// -----
func.func @reduce_nothing() {
  // expected-error @+1 {{expected a buffer, found none}}
  rt.collective all_reduce group tp count 1 : () -> ()
  return
}
// -----
func.func @reduce_to_another_type(%g: tensor<4xf32>) {
  // expected-error @+1 {{expected type of operand #0 ('tensor<4xf32>') to match type of corresponding result ('tensor<2x2xf32>')}}
  %h = rt.collective all_reduce %g group tp count 4 : (tensor<4xf32>) -> tensor<2x2xf32>
  return
}
// -----
func.func @attention_fused(%a0: tensor<1x32x2x16xf32>, %s: i64, %h: i64, %e0: tensor<1x32x2x16xf32>, %e1: tensor<1x2x32xf32>) {
  // expected-error @+1 {{expected [batch, seq, kv_heads, q_per_kv + 2, head_dim] of fused q, k and v, found 'tensor<1x32x2x16xf32>'}}
  %r:2 = rt.attention(%a0) into (%e0, %e1) at %s, %h {backward = false, causal = true, global_heads = 4 : i64, rate = 0.1 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x2x32xf32>, i64, i64) -> (tensor<1x32x2x16xf32>, tensor<1x2x32xf32>)
  return
}
// -----
func.func @attention_fused_groups(%a0: tensor<1x32x2x4x16xf32>, %s: i64, %h: i64, %e0: tensor<1x32x4x16xf32>, %e1: tensor<1x4x32xf32>) {
  // expected-error @+1 {{expected fused q, k and v with one query for each key head, or with one key head: the call has one stride of queries; found 'tensor<1x32x2x4x16xf32>'; take them apart (tfm.unfuse)}}
  %r:2 = rt.attention(%a0) into (%e0, %e1) at %s, %h {backward = false, causal = true, global_heads = 4 : i64, rate = 0.1 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (tensor<1x32x2x4x16xf32>, tensor<1x32x4x16xf32>, tensor<1x4x32xf32>, i64, i64) -> (tensor<1x32x4x16xf32>, tensor<1x4x32xf32>)
  return
}
// -----
func.func @attention_separate(%a0: tensor<1x32x2x16xf32>, %a1: tensor<1x16x2x16xf32>, %a2: tensor<1x32x2x16xf32>, %s: i64, %h: i64, %e0: tensor<1x32x2x16xf32>, %e1: tensor<1x2x32xf32>) {
  // expected-error @+1 {{expected q [batch, seq, heads, head_dim], and k and v of one shape whose heads divide these, found}}
  %r:2 = rt.attention(%a0, %a1, %a2) into (%e0, %e1) at %s, %h {backward = false, causal = true, global_heads = 4 : i64, rate = 0.1 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (tensor<1x32x2x16xf32>, tensor<1x16x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x2x32xf32>, i64, i64) -> (tensor<1x32x2x16xf32>, tensor<1x2x32xf32>)
  return
}
// -----
func.func @attention_positions(%a0: tensor<1x16x2x16xf32>, %a1: tensor<1x32x2x16xf32>, %s: i64, %h: i64, %e0: tensor<1x16x2x16xf32>, %e1: tensor<1x2x16xf32>) {
  // expected-error @+1 {{expected as many queries as keys, or an even number of queries that is no larger and the positions of their two halves, found 16 queries, 32 keys and 1 positions}}
  %r:2 = rt.attention(%a0, %a1, %a1) into (%e0, %e1) at %s, %h positions %s {backward = false, causal = true, global_heads = 4 : i64, rate = 0.1 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (tensor<1x16x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x16x2x16xf32>, tensor<1x2x16xf32>, i64, i64, i64) -> (tensor<1x16x2x16xf32>, tensor<1x2x16xf32>)
  return
}
// -----
func.func @attention_inputs(%a0: tensor<1x32x2x16xf32>, %a1: tensor<1x32x2x16xf32>, %s: i64, %h: i64, %e0: tensor<1x32x2x16xf32>, %e1: tensor<1x2x32xf32>) {
  // expected-error @+1 {{expected q, k and v, fused or not, found 2 inputs}}
  %r:2 = rt.attention(%a0, %a1) into (%e0, %e1) at %s, %h {backward = false, causal = true, global_heads = 4 : i64, rate = 0.1 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2x16xf32>, tensor<1x2x32xf32>, i64, i64) -> (tensor<1x32x2x16xf32>, tensor<1x2x32xf32>)
  return
}
// -----
func.func @attention_backward_inputs(%a0: tensor<1x32x2x16xf32>, %a1: tensor<1x2x32xf32>, %s: i64, %h: i64, %e0: tensor<1x32x2x16xf32>) {
  // expected-error @+1 {{expected q, k and v, fused or not, behind dout, out and lse, found 2 inputs}}
  %r:1 = rt.attention(%a0, %a1) into (%e0) at %s, %h {backward = true, causal = true, global_heads = 4 : i64, rate = 0.1 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (tensor<1x32x2x16xf32>, tensor<1x2x32xf32>, tensor<1x32x2x16xf32>, i64, i64) -> (tensor<1x32x2x16xf32>)
  return
}
// -----
func.func @attention_results(%a0: tensor<1x32x2x3x16xf32>, %s: i64, %h: i64, %e0: tensor<1x32x2x16xf32>) {
  // expected-error @+1 {{expected 2 buffers to write into, found 1}}
  %r:1 = rt.attention(%a0) into (%e0) at %s, %h {backward = false, causal = true, global_heads = 4 : i64, rate = 0.1 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (tensor<1x32x2x3x16xf32>, tensor<1x32x2x16xf32>, i64, i64) -> (tensor<1x32x2x16xf32>)
  return
}
// -----
func.func @attention_documents_shape(%a0: tensor<1x32x2x3x16xf32>, %d: tensor<1x16xi32>, %s: i64, %h: i64, %e0: tensor<1x32x2x16xf32>, %e1: tensor<1x2x32xf32>) {
  // expected-error @+1 {{expected documents of shape [1, 32], found 'tensor<1x16xi32>'}}
  %r:2 = rt.attention(%a0) within %d into (%e0, %e1) at %s, %h {backward = false, causal = true, global_heads = 4 : i64, rate = 0.1 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (tensor<1x32x2x3x16xf32>, tensor<1x16xi32>, tensor<1x32x2x16xf32>, tensor<1x2x32xf32>, i64, i64) -> (tensor<1x32x2x16xf32>, tensor<1x2x32xf32>)
  return
}
// -----
func.func @attention_documents_type(%a0: tensor<1x32x2x3x16xf32>, %d: tensor<1x32xf32>, %s: i64, %h: i64, %e0: tensor<1x32x2x16xf32>, %e1: tensor<1x2x32xf32>) {
  // expected-error @+1 {{expected documents of i32, found 'tensor<1x32xf32>'}}
  %r:2 = rt.attention(%a0) within %d into (%e0, %e1) at %s, %h {backward = false, causal = true, global_heads = 4 : i64, rate = 0.1 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (tensor<1x32x2x3x16xf32>, tensor<1x32xf32>, tensor<1x32x2x16xf32>, tensor<1x2x32xf32>, i64, i64) -> (tensor<1x32x2x16xf32>, tensor<1x2x32xf32>)
  return
}
// -----
func.func @attention_lse(%a0: tensor<1x32x2x3x16xf32>, %s: i64, %h: i64, %e0: tensor<1x32x2x16xf32>, %e1: tensor<1x32x2xf32>) {
  // expected-error @+1 {{expected the log-sum-exp of shape [1, 2, 32], found 'tensor<1x32x2xf32>'}}
  %r:2 = rt.attention(%a0) into (%e0, %e1) at %s, %h {backward = false, causal = true, global_heads = 4 : i64, rate = 0.1 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (tensor<1x32x2x3x16xf32>, tensor<1x32x2x16xf32>, tensor<1x32x2xf32>, i64, i64) -> (tensor<1x32x2x16xf32>, tensor<1x32x2xf32>)
  return
}
// -----
rt.kernel @holds_a_norm rows 4 cols 4 args 0 [#rt.operand<mode = full, element = f32, extent = 0>] {
  // expected-error @+1 {{expected ops of kernels' bodies in a kernel}}
  rt.norm reset
}
// -----
rt.kernel @divides_by_what_it_loads rows 4 cols 4 args 0 [#rt.operand<mode = full, element = i32, extent = 0>] {
  %x = rt.load 0 : i32
  // expected-error @+1 {{expected a constant above 0 to divide by}}
  %y = arith.remui %x, %x : i32
}
// -----
// expected-error @+1 {{expected a fragment to be a function of one block without arguments and results, found another}}
func.func private @declared() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = eval>}
// -----
func.func @empty() {
  // expected-error @+1 {{expected ops that become one kernel, found none}}
  rt.cluster {
  }
  return
}
// -----
func.func @call(%x: tensor<4x8xf32>) {
  %y = rt.cluster -> (tensor<4x8xf32>) {
    // expected-error @+1 {{'dist.all_reduce' op expected only ops of tfm, pipe.accumulate and pipe.loss in a cluster, found another}}
    %z = dist.all_reduce sum %x over "tp" origin g serves "w" : tensor<4x8xf32>
    rt.yield %z : tensor<4x8xf32>
  }
  return
}
// -----
func.func @types(%x: tensor<4x8xf32>) {
  %y = rt.cluster -> (tensor<4x8xf32>) {
    %z = tfm.exp %x : tensor<4x8xf32>
    // expected-error @+1 {{expected values of the cluster's results ('tensor<4x8xf32>'), found ()}}
    rt.yield
  }
  return
}
// -----
func.func @outer(%x: tensor<4x8xf32>) {
  %y = rt.cluster -> (tensor<4x8xf32>) {
    %z = tfm.exp %x : tensor<4x8xf32>
    // expected-error @+1 {{expected values that the cluster's ops make, found one of before}}
    rt.yield %x : tensor<4x8xf32>
  }
  return
}
// -----
func.func @retyped(%n: i64) {
  %v = rt.view grads at 0 : memref<128xf32>
  // expected-error @+1 {{expected elements of type 'f32', as the view has, found 'memref<256xbf16>'}}
  %w = rt.offset_view %v by %n : memref<128xf32> -> memref<256xbf16>
  return
}
// -----
func.func @norms() {
  // expected-error @+1 {{expected count 1 of a norm_reduce, found 5}}
  rt.collective norm_reduce group all count 5 : () -> ()
  return
}
// -----
// expected-error @+1 {{expected groups along one axis, found embedding}}
rt.param "w" use 0 bucket 0 start 0 partial <tp, embedding>
// -----
func.func @once() {
  // expected-error @+1 {{expected groups along one axis, of which each rank has a place, found embedding}}
  %at, %local, %n = rt.flat_range start 0 count 4 among <tp, embedding>
  return
}
// -----
// expected-error @+1 {{expected an index of 0 or more, found -1}}
rt.bucket -1 elements 4 unpadded 4 shard 4 {grad_offset = 0 : i64}
// -----
func.func @state_of_a_parameter() {
  // expected-error @+1 {{expected a parameter only of a gradient, found one of state}}
  %g = rt.ref state "exp_avg" for "w" use 0 : memref<1xf32>
  return
}
// -----
func.func @bucket_and_parameter() {
  // expected-error @+1 {{expected no bucket of the loss or of a parameter, found one}}
  %g = rt.ref grad of 0 for "w" use 0 : memref<1xf32>
  return
}
// -----
func.func @parameter_without_a_use() {
  // expected-error @+1 {{expected a parameter together with its use}}
  %g = "rt.ref"() {kind = #rt<ref_kind grad>, param = "w"} : () -> memref<1xf32>
  return
}

// RUN: mtc-opt %s -split-input-file -verify-diagnostics
// Tests that each branch of the tfm verifiers fires.

func.func @add_needs_two(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected at least 2 operands, found 1}}
  %0 = tfm.add %x : tensor<4xf32>
  return
}
// -----
func.func @broadcast_names_each_dimension(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected one entry of dims per operand dimension (1), found 2}}
  %0 = tfm.broadcast %x dims [0, 1] : tensor<4xf32> -> tensor<4x4xf32>
  return
}
// -----
func.func @broadcast_dims_ascend(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expected dims to ascend below 3, found 0 after 1}}
  %0 = tfm.broadcast %x dims [1, 0] : tensor<4x4xf32> -> tensor<4x4x4xf32>
  return
}
// -----
func.func @broadcast_sizes_agree(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected operand of shape [5], found [4]}}
  %0 = tfm.broadcast %x dims [1] : tensor<4xf32> -> tensor<3x5xf32>
  return
}
// -----
func.func @reduce_keeps_other_dimensions(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected result of shape [8], found [4]}}
  %0 = tfm.reduce sum %x dims [0] : tensor<4x8xf32> -> tensor<4xf32>
  return
}
// -----
func.func @iota_counts_in_i32() {
  // expected-error @+1 {{expected a result of i32, found 'tensor<4xf32>'}}
  %0 = tfm.iota dim 0 : tensor<4xf32>
  return
}
// -----
func.func @iota_counts_along_a_dimension() {
  // expected-error @+1 {{expected dim to be one of the 2 dimensions of the result, from 0, found 2}}
  %0 = tfm.iota dim 2 : tensor<2x4xi32>
  return
}
// -----
func.func @index_from_along_a_dimension(%x: tensor<2x4xi32>) {
  // expected-error @+1 {{expected dim to be one of the 2 dimensions of the result, from 0, found 2}}
  %0 = tfm.index_from %x dim 2 : tensor<2x4xi32>
  return
}
// -----
func.func @iota_of_no_dimension() {
  // expected-error @+1 {{expected dim to be one of the 2 dimensions of the result, from 0, found -1}}
  %0 = tfm.iota dim -1 : tensor<2x4xi32>
  return
}
// -----
func.func @dropout_rate(%x: tensor<4x8xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected 0 <= rate < 1, found 1.000000e+00}}
  %0 = tfm.dropout %x at %at {rate = 1.0 : f64, rng_layer = 1 : i64, site = 2 : i64} : tensor<4x8xf32>, tensor<i64> -> tensor<4x8xf32>
  return
}
// -----
func.func @dropout_needs_samples(%x: tensor<4xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected rank >= 2 (dimension 0 is the sample), found 1}}
  %0 = tfm.dropout %x at %at {rate = 0.5 : f64, rng_layer = 1 : i64, site = 2 : i64} : tensor<4xf32>, tensor<i64> -> tensor<4xf32>
  return
}
// -----
func.func @dropout_sample_is_a_scalar(%x: tensor<4x8xf32>, %at: tensor<4xi64>) {
  // expected-error @+1 {{expected a scalar sample base, found 'tensor<4xi64>'}}
  %0 = tfm.dropout %x at %at {rate = 0.5 : f64, rng_layer = 1 : i64, site = 2 : i64} : tensor<4x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  return
}
// -----
func.func @dropout_keeps_type(%x: tensor<4x8xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected operand and result of one type, found 'tensor<4x8xf32>' and 'tensor<4x9xf32>'}}
  %0 = tfm.dropout %x at %at {rate = 0.5 : f64, rng_layer = 1 : i64, site = 2 : i64} : tensor<4x8xf32>, tensor<i64> -> tensor<4x9xf32>
  return
}
// -----
func.func @einsum_needs_an_equation(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected an equation like "ab,bc->ac", found "ab"}}
  %0 = tfm.einsum "ab" %x, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}
// -----
func.func @einsum_letters_name_dimensions(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 3 dimensions for letters "abz", found 'tensor<4x8xf32>'}}
  %0 = tfm.einsum "abz,bc->ac" %x, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}
// -----
func.func @einsum_letters_have_one_size(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected letter 'b' to have one size, found 8 and 4}}
  %0 = tfm.einsum "ab,bc->ac" %x, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}
// -----
func.func @einsum_letters_stand_twice(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) {
  // expected-error @+1 {{expected letter 'a' in exactly two of the three tensors, found it in 1}}
  %0 = tfm.einsum "ab,bc->cd" %x, %y : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x8xf32>
  return
}
// -----
func.func @embed_table_rank(%ids: tensor<4xi32>, %t: tensor<8xf32>) {
  // expected-error @+1 {{expected a table of rank 2, found 'tensor<8xf32>'}}
  %0 = tfm.embed %ids, %t : tensor<4xi32>, tensor<8xf32> -> tensor<4x8xf32>
  return
}
// -----
func.func @embed_result(%ids: tensor<4xi32>, %t: tensor<9x8xf32>) {
  // expected-error @+1 {{expected result of shape [4, 8], found [4, 9]}}
  %0 = tfm.embed %ids, %t : tensor<4xi32>, tensor<9x8xf32> -> tensor<4x9xf32>
  return
}
// -----
func.func @embed_grad_rank(%ids: tensor<4xi32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a result of rank 2, found 'tensor<8xf32>'}}
  %0 = tfm.embed_grad %ids, %d : tensor<4xi32>, tensor<4x8xf32> -> tensor<8xf32>
  return
}
// -----
func.func @embed_grad_rows(%ids: tensor<4xi32>, %d: tensor<5x8xf32>) {
  // expected-error @+1 {{expected dy of shape [4, 8], found [5, 8]}}
  %0 = tfm.embed_grad %ids, %d : tensor<4xi32>, tensor<5x8xf32> -> tensor<9x8xf32>
  return
}
// -----
func.func @pick_labels(%z: tensor<4x8xf32>, %l: tensor<5xi32>) {
  // expected-error @+1 {{expected labels of shape [4], found [5]}}
  %0 = tfm.pick %z, %l : tensor<4x8xf32>, tensor<5xi32> -> tensor<4xf32>
  return
}
// -----
func.func @pick_grad_rows(%l: tensor<4xi32>, %d: tensor<5xf32>) {
  // expected-error @+1 {{expected dl of shape [4], found [5]}}
  %0 = tfm.pick_grad %l, %d : tensor<4xi32>, tensor<5xf32> -> tensor<4x8xf32>
  return
}
// -----
func.func @norm_scale(%x: tensor<4x8xf32>, %g: tensor<9xf32>) {
  // expected-error @+1 {{expected scale of shape [8], found [9]}}
  %y, %m, %r = tfm.norm layer_norm %x, %g, %g {eps = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<9xf32>, tensor<9xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return
}
// -----
func.func @norm_without_mean(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected a mean, which layer_norm subtracts, found none}}
  %y, %r = tfm.norm layer_norm %x, %g {eps = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<4xf32>
  return
}
// -----
func.func @norm_with_mean(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected no mean, for rms_norm subtracts none; found one}}
  %y, %m, %r = tfm.norm rms_norm %x, %g {eps = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return
}
// -----
func.func @norm_rms_root(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected row statistics of shape [4], found [5]}}
  %y, %r = tfm.norm rms_norm %x, %g {eps = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<5xf32>
  return
}
// -----
func.func @norm_dx_with_mean(%d: tensor<4x8xf32>, %x: tensor<4x8xf32>, %g: tensor<8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expected no mean, for rms_norm subtracts none; found one}}
  %0 = tfm.norm_dx rms_norm %d, %x, %g, %m, %m : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<4x8xf32>
  return
}
// -----
func.func @norm_dscale_without_mean(%d: tensor<4x8xf32>, %x: tensor<4x8xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{expected a mean, which layer_norm subtracts, found none}}
  %0 = tfm.norm_dscale layer_norm %d, %x, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32> -> tensor<8xf32>
  return
}
// -----
func.func @norm_rows(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected row statistics of shape [4], found [5]}}
  %y, %m, %r = tfm.norm layer_norm %x, %g, %g {eps = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<5xf32>, tensor<4xf32>
  return
}
// -----
func.func @attention_fused_rank(%q: tensor<4x8x4x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected a fused operand [batch, seq, kv_heads, q_per_kv + 2, head_dim]}}
  %o, %l = tfm.attention %q at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x16xf32>), tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
  return
}
// -----
func.func @attention_operand_count(%q: tensor<4x8x4x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected 1 fused or 3 operands, found 2}}
  %o, %l = tfm.attention %q, %q at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>), tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
  return
}
// -----
func.func @attention_groups(%q: tensor<4x8x4x16xf32>, %k: tensor<4x8x3x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected heads (4) to be a multiple of kv_heads (3)}}
  %o, %l = tfm.attention %q, %k, %k at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x16xf32>, tensor<4x8x3x16xf32>, tensor<4x8x3x16xf32>), tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
  return
}
// -----
func.func @attention_documents_causal(%q: tensor<4x8x4x3x16xf32>, %d: tensor<4x8xi32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected causal attention within documents, which are known by where they begin, found causal = false}}
  %o, %l = tfm.attention %q within %d at %at {causal = false, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x3x16xf32>) within tensor<4x8xi32>, tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
  return
}
// -----
func.func @attention_documents_type(%q: tensor<4x8x4x3x16xf32>, %d: tensor<4x8xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected documents of i32, found 'tensor<4x8xf32>'}}
  %o, %l = tfm.attention %q within %d at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x3x16xf32>) within tensor<4x8xf32>, tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
  return
}
// -----
func.func @attention_documents_shape(%q: tensor<4x8x4x3x16xf32>, %d: tensor<4x4xi32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected documents of shape [4, 8], found [4, 4]}}
  %o, %l = tfm.attention %q within %d at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x3x16xf32>) within tensor<4x4xi32>, tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
  return
}
// -----
func.func @attention_lse(%q: tensor<4x8x4x3x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected log-sum-exp of shape [4, 4, 8], found [4, 8, 4]}}
  %o, %l = tfm.attention %q at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x3x16xf32>), tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x8x4xf32>
  return
}
// -----
func.func @reduce_dims_ascend(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected dims to ascend below 2, found 2 after -1}}
  %0 = tfm.reduce sum %x dims [2] : tensor<4x8xf32> -> tensor<4xf32>
  return
}
// -----
func.func @pick_rank(%z: tensor<f32>, %l: tensor<i32>) {
  // expected-error @+1 {{expected rank >= 1, found 'tensor<f32>'}}
  %0 = tfm.pick %z, %l : tensor<f32>, tensor<i32> -> tensor<f32>
  return
}
// -----
func.func @pick_result(%z: tensor<4x8xf32>, %l: tensor<4xi32>) {
  // expected-error @+1 {{expected result of shape [4], found [8]}}
  %0 = tfm.pick %z, %l : tensor<4x8xf32>, tensor<4xi32> -> tensor<8xf32>
  return
}
// -----
func.func @pick_grad_rank(%l: tensor<i32>, %d: tensor<f32>) {
  // expected-error @+1 {{expected rank >= 1, found 'tensor<f32>'}}
  %0 = tfm.pick_grad %l, %d : tensor<i32>, tensor<f32> -> tensor<f32>
  return
}
// -----
func.func @pick_grad_labels(%l: tensor<5xi32>, %d: tensor<4xf32>) {
  // expected-error @+1 {{expected labels of shape [4], found [5]}}
  %0 = tfm.pick_grad %l, %d : tensor<5xi32>, tensor<4xf32> -> tensor<4x8xf32>
  return
}
// -----
func.func @norm_rank(%x: tensor<f32>, %g: tensor<8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected rank >= 1, found 'tensor<f32>'}}
  %y, %m, %r = tfm.norm layer_norm %x, %g, %b {eps = 1.0e-05 : f64} : tensor<f32>, tensor<8xf32>, tensor<8xf32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return
}
// -----
func.func @norm_bias(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<9xf32>) {
  // expected-error @+1 {{expected bias of shape [8], found [9]}}
  %y, %m, %r = tfm.norm layer_norm %x, %g, %b {eps = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<8xf32>, tensor<9xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return
}
// -----
func.func @norm_result(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected result of shape [4, 8], found [8, 4]}}
  %y, %m, %r = tfm.norm layer_norm %x, %g, %b {eps = 1.0e-05 : f64} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}
// -----
func.func @norm_dx_scale(%d: tensor<4x8xf32>, %x: tensor<4x8xf32>, %g: tensor<9xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{expected scale of shape [8], found [9]}}
  %0 = tfm.norm_dx layer_norm %d, %x, %g, %m, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<9xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<4x8xf32>
  return
}
// -----
func.func @norm_dx_dy(%d: tensor<8x4xf32>, %x: tensor<4x8xf32>, %g: tensor<8xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{expected dy of shape [4, 8], found [8, 4]}}
  %0 = tfm.norm_dx layer_norm %d, %x, %g, %m, %r : tensor<8x4xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<4x8xf32>
  return
}
// -----
func.func @norm_dx_result(%d: tensor<4x8xf32>, %x: tensor<4x8xf32>, %g: tensor<8xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{expected result of shape [4, 8], found [8, 4]}}
  %0 = tfm.norm_dx layer_norm %d, %x, %g, %m, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<8x4xf32>
  return
}
// -----
func.func @norm_dscale_rows(%d: tensor<4x8xf32>, %x: tensor<4x8xf32>, %m: tensor<5xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{expected row statistics of shape [4], found [5]}}
  %0 = tfm.norm_dscale layer_norm %d, %x, %m, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<5xf32>, tensor<4xf32> -> tensor<8xf32>
  return
}
// -----
func.func @norm_dscale_dy(%d: tensor<8x4xf32>, %x: tensor<4x8xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{expected dy of shape [4, 8], found [8, 4]}}
  %0 = tfm.norm_dscale layer_norm %d, %x, %m, %r : tensor<8x4xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
  return
}
// -----
func.func @attention_rank(%q: tensor<4x8x4x16xf32>, %k: tensor<4x8x16xf32>, %v: tensor<4x8x2x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected operands [batch, seq, heads, head_dim], found 'tensor<4x8x16xf32>'}}
  %o, %l = tfm.attention %q, %k, %v at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x16xf32>, tensor<4x8x16xf32>, tensor<4x8x2x16xf32>), tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
  return
}
// -----
func.func @attention_k_and_v(%q: tensor<4x8x4x16xf32>, %k: tensor<4x8x2x16xf32>, %v: tensor<4x8x4x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected k and v of one type, found 'tensor<4x8x2x16xf32>' and 'tensor<4x8x4x16xf32>'}}
  %o, %l = tfm.attention %q, %k, %v at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x16xf32>, tensor<4x8x2x16xf32>, tensor<4x8x4x16xf32>), tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
  return
}
// -----
func.func @attention_k(%q: tensor<4x8x4x16xf32>, %k: tensor<4x9x2x16xf32>, %v: tensor<4x9x2x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected k of shape [4, 8, 2, 16], found [4, 9, 2, 16]}}
  %o, %l = tfm.attention %q, %k, %v at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x16xf32>, tensor<4x9x2x16xf32>, tensor<4x9x2x16xf32>), tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
  return
}
// -----
func.func @attention_result(%q: tensor<4x8x4x16xf32>, %k: tensor<4x8x2x16xf32>, %v: tensor<4x8x2x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected result of shape [4, 8, 4, 16], found [4, 8, 2, 16]}}
  %o, %l = tfm.attention %q, %k, %v at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x16xf32>, tensor<4x8x2x16xf32>, tensor<4x8x2x16xf32>), tensor<i64> -> tensor<4x8x2x16xf32>, tensor<4x4x8xf32>
  return
}
// -----
func.func @attention_grad_documents(%do: tensor<4x8x4x16xf32>, %o: tensor<4x8x4x16xf32>, %l: tensor<4x4x8xf32>, %q: tensor<4x8x4x3x16xf32>, %d: tensor<4x8xi32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected causal attention within documents, which are known by where they begin, found causal = false}}
  %0 = tfm.attention_grad %do, %o, %l, %q within %d at %at {causal = false, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>, tensor<4x4x8xf32>, (tensor<4x8x4x3x16xf32>) within tensor<4x8xi32>, tensor<i64> -> (tensor<4x8x4x3x16xf32>)
  return
}
// -----
func.func @attention_grad_operands(%do: tensor<4x8x4x16xf32>, %o: tensor<4x8x4x16xf32>, %l: tensor<4x4x8xf32>, %q: tensor<4x8x4x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected a fused operand [batch, seq, kv_heads, q_per_kv + 2, head_dim], found 'tensor<4x8x4x16xf32>'}}
  %0 = tfm.attention_grad %do, %o, %l, %q at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>, tensor<4x4x8xf32>, (tensor<4x8x4x16xf32>), tensor<i64> -> (tensor<4x8x4x3x16xf32>)
  return
}
// -----
func.func @attention_grad_types(%do: tensor<4x8x4x16xf32>, %o: tensor<4x8x4x16xf32>, %l: tensor<4x4x8xf32>, %q: tensor<4x8x4x3x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected gradients of the operands' types}}
  %0 = tfm.attention_grad %do, %o, %l, %q at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>, tensor<4x4x8xf32>, (tensor<4x8x4x3x16xf32>), tensor<i64> -> (tensor<4x8x4x3x8xf32>)
  return
}
// -----
func.func @attention_grad_dout(%do: tensor<4x8x2x16xf32>, %o: tensor<4x8x4x16xf32>, %l: tensor<4x4x8xf32>, %q: tensor<4x8x4x3x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected dout of shape [4, 8, 4, 16], found [4, 8, 2, 16]}}
  %0 = tfm.attention_grad %do, %o, %l, %q at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : tensor<4x8x2x16xf32>, tensor<4x8x4x16xf32>, tensor<4x4x8xf32>, (tensor<4x8x4x3x16xf32>), tensor<i64> -> (tensor<4x8x4x3x16xf32>)
  return
}
// -----
func.func @attention_grad_out(%do: tensor<4x8x4x16xf32>, %o: tensor<4x8x2x16xf32>, %l: tensor<4x4x8xf32>, %q: tensor<4x8x4x3x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected out of shape [4, 8, 4, 16], found [4, 8, 2, 16]}}
  %0 = tfm.attention_grad %do, %o, %l, %q at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : tensor<4x8x4x16xf32>, tensor<4x8x2x16xf32>, tensor<4x4x8xf32>, (tensor<4x8x4x3x16xf32>), tensor<i64> -> (tensor<4x8x4x3x16xf32>)
  return
}
// -----
func.func @attention_grad_lse(%do: tensor<4x8x4x16xf32>, %o: tensor<4x8x4x16xf32>, %l: tensor<4x8x4xf32>, %q: tensor<4x8x4x3x16xf32>, %at: tensor<i64>) {
  // expected-error @+1 {{expected log-sum-exp of shape [4, 4, 8], found [4, 8, 4]}}
  %0 = tfm.attention_grad %do, %o, %l, %q at %at {causal = true, scale = 0.25 : f64, rate = 0.0 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>, tensor<4x8x4xf32>, (tensor<4x8x4x3x16xf32>), tensor<i64> -> (tensor<4x8x4x3x16xf32>)
  return
}
// -----
func.func @cast_keeps_the_shape(%x: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected result of shape [4, 8], found [8, 4]}}
  %0 = tfm.cast %x : tensor<4x8xbf16> -> tensor<8x4xf32>
  return
}
// -----
func.func @cast_between_floats(%x: tensor<4xi32>) {
  // expected-error @+1 {{expected floating types, found 'tensor<4xi32>' and 'tensor<4xf32>'}}
  %0 = tfm.cast %x : tensor<4xi32> -> tensor<4xf32>
  return
}
// -----
func.func @einsum_of_one_type(%x: tensor<4x8xbf16>, %w: tensor<8x2xf32>) {
  // expected-error @+1 {{expected operands of one element type, found 'tensor<4x8xbf16>' and 'tensor<8x2xf32>'}}
  %0 = tfm.einsum "ab,bc->ac" %x, %w : tensor<4x8xbf16>, tensor<8x2xf32> -> tensor<4x2xf32>
  return
}
// -----
// expected-error @+1 {{expected names of axes, found memref<f64>}}
func.func @axes_of_a_parameter(%w: tensor<4x8xf32> {tfm.param = #tfm.param<name = "w", axes = [memref<f64>, "embed"], init = zeros, std = 0.0 : f64, decay = false>}) {
  return
}
// -----
// expected-error @+1 {{expected names of axes, found 1 : i64}}
func.func @axes_of_an_input(%ids: tensor<4x8xi32> {tfm.input = #tfm.input<name = "ids", axes = ["batch", 1]>}) {
  return
}
// -----
func.func @whole_dims_ascend(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected dims to ascend below 2, found 1 after 1}}
  %0 = tfm.whole %x dims [1, 1] : tensor<4x8xf32>
  return
}

// -----

func.func @unfuse_q(%x: tensor<4x8x2x4x16xf32>) {
  // expected-error @below {{expected q of shape [4, 8, 4, 16], found [4, 8, 2, 16]}}
  %q, %k, %v = tfm.unfuse %x : tensor<4x8x2x4x16xf32> -> tensor<4x8x2x16xf32>, tensor<4x8x2x16xf32>, tensor<4x8x2x16xf32>
  return
}

// -----

func.func @fuse_v(%q: tensor<4x8x4x16xf32>, %k: tensor<4x8x2x16xf32>, %v: tensor<4x8x4x16xf32>) {
  // expected-error @below {{expected v of shape [4, 8, 2, 16], found [4, 8, 4, 16]}}
  %x = tfm.fuse %q, %k, %v : tensor<4x8x4x16xf32>, tensor<4x8x2x16xf32>, tensor<4x8x4x16xf32> -> tensor<4x8x2x4x16xf32>
  return
}

// -----

func.func @fuse_rank(%q: tensor<4x8x4x16xf32>, %k: tensor<4x8x2x16xf32>) {
  // expected-error @below {{expected a fused operand [batch, seq, kv_heads, q_per_kv + 2, head_dim], found}}
  %x = tfm.fuse %q, %k, %k : tensor<4x8x4x16xf32>, tensor<4x8x2x16xf32>, tensor<4x8x2x16xf32> -> tensor<4x8x2x64xf32>
  return
}

// -----

func.func @unfuse_k(%x: tensor<4x8x2x4x16xf32>) {
  // expected-error @below {{expected k of shape [4, 8, 2, 16], found [4, 8, 4, 16]}}
  %q, %k, %v = tfm.unfuse %x : tensor<4x8x2x4x16xf32> -> tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>, tensor<4x8x2x16xf32>
  return
}

// -----

func.func @repeat_dim(%x: tensor<4x8xf32>) {
  // expected-error @below {{expected dim from 0 to 1, a dimension of 'tensor<4x8xf32>', found 2}}
  %0 = tfm.repeat %x dim 2 times 2 : tensor<4x8xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @repeat_times(%x: tensor<4x8xf32>) {
  // expected-error @below {{expected times to be 1 or more, found 0}}
  %0 = tfm.repeat %x dim 1 times 0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

// A rank has a part of what repeats, but of equal parts: 5 does not divide 16.
func.func @repeat_shape(%x: tensor<4x8xf32>) {
  %part = tfm.repeat %x dim 1 times 2 : tensor<4x8xf32> -> tensor<4x4xf32>
  // expected-error @below {{expected what repeats the indices of shape [4, 16], found [4, 5]}}
  %0 = tfm.repeat %x dim 1 times 2 : tensor<4x8xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @repeat_grad_shape(%x: tensor<4x16xf32>) {
  // expected-error @below {{expected what repeats the indices of shape [2, 16], found [4, 16]}}
  %0 = tfm.repeat_grad %x dim 1 times 2 : tensor<4x16xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @f() -> tensor<f32> {
  // expected-error @+1 {{expected a field of the step block that kernels read (lr, weight_decay, beta1, beta2, one_minus_beta1, one_minus_beta2, eps, inv_bias1, inv_bias2, momentum, clip_coeff or loss_scale), found "backward"}}
  %0 = tfm.scalar "backward" : tensor<f32>
  return %0 : tensor<f32>
}

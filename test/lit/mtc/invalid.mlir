// RUN: mtc-opt %s -split-input-file -verify-diagnostics
// Tests what a configuration may not be: each field is named.

// expected-error @+1 {{expected name to say something, found ""}}
module attributes {test.attribute = #mtc.model<name = "", layers = 1, hidden = 1, vocab = 1, padded_vocab = 1>} {}
// -----
// expected-error @+1 {{expected hidden to be at least 1, found 0}}
module attributes {test.attribute = #mtc.model<name = "m", layers = 1, hidden = 0, vocab = 1, padded_vocab = 1>} {}
// -----
// expected-error @+1 {{expected vocab to be at least 1, found -3}}
module attributes {test.attribute = #mtc.model<name = "m", layers = 1, hidden = 1, vocab = -3, padded_vocab = 1>} {}
// -----
// expected-error @+1 {{expected 0 to 1048576 layers, found -4}}
module attributes {test.attribute = #mtc.model<name = "m", layers = -4, hidden = 1, vocab = 1, padded_vocab = 1>} {}
// -----
// expected-error @+1 {{expected padded_vocab to be at least vocab, 211, found 210}}
module attributes {test.attribute = #mtc.model<name = "m", layers = 1, hidden = 1, vocab = 211, padded_vocab = 210>} {}
// -----
// expected-error @+1 {{expected the fields name, layers, hidden, vocab, padded_vocab, found no padded_vocab}}
module attributes {test.attribute = #mtc.model<name = "m", layers = 1, hidden = 1, vocab = 211>} {}
// -----
// expected-error @+1 {{expected each field once, found layers twice}}
module attributes {test.attribute = #mtc.model<layers = 1, layers = 2>} {}
// -----
// expected-error @+2 {{expected integer value}}
// expected-error @+1 {{found a wrong value of the field layers}}
module attributes {test.attribute = #mtc.model<name = "m", layers = "four">} {}
// -----
// expected-error @+1 {{expected a field of name, layers, hidden, vocab, padded_vocab, found heads}}
module attributes {test.attribute = #mtc.model<name = "m", heads = 4, layers = 1, hidden = 1, vocab = 1, padded_vocab = 1>} {}
// -----
// expected-error @+1 {{expected microbatches to be 1 to 1048576, found 0}}
module attributes {test.attribute = #mtc.batch<micro = 2, microbatches = 0, global = 16, sequence = 32>} {}
// -----
// expected-error @+1 {{expected microbatches to be 1 to 1048576, found 4294967300}}
module attributes {test.attribute = #mtc.batch<micro = 2, microbatches = 4294967300, global = 8589934600, sequence = 32>} {}
// -----
// expected-error @+1 {{expected chunks to be 1 to 1024, found 0}}
module attributes {test.attribute = #mtc.schedule<name = "1f1b", chunks = 0, layers_per_stage = [1]>} {}
// -----
// expected-error @+1 {{expected slots to be a list of strings, found ["F0", 1]}}
module attributes {test.attribute = #mtc.schedule<name = "mine", chunks = 1, layers_per_stage = [1], slots = ["F0", 1]>} {}
// -----
// expected-error @+1 {{expected group to be 1 to 1048576, found 0}}
module attributes {test.attribute = #mtc.schedule<name = "interleaved-1f1b", chunks = 2, layers_per_stage = [1], group = 0>} {}
// -----
// expected-error @+1 {{expected chunks to be 1 to 1024, found 4294967297}}
module attributes {test.attribute = #mtc.schedule<name = "1f1b", chunks = 4294967297, layers_per_stage = [1]>} {}
// -----
// expected-error @+1 {{expected streams to be 1 to 2, found 3}}
module attributes {test.attribute = #mtc.target<device = "cpu", threads = 1, streams = 3>} {}
// -----
// expected-error @+1 {{expected streams of the device cpu alone, as a GPU has two, found them of cuda:sm_90}}
module attributes {test.attribute = #mtc.target<device = "cuda:sm_90", threads = 1, streams = 2>} {}
// -----
// expected-error @+1 {{expected names of what is done within products of a cpu (pointwise), each once, found ["bias"]}}
module attributes {test.attribute = #mtc.target<device = "cpu", threads = 1, epilogues = ["bias"]>} {}
// -----
// expected-error @+1 {{expected gemm of the device cpu alone, as products of a GPU are its library's, found it of cuda:sm_90}}
module attributes {test.attribute = #mtc.target<device = "cuda:sm_90", threads = 1, gemm = own>} {}
// -----
// expected-error @+1 {{expected prepack beside gemm = own, whose kernels read what is packed, found it alone}}
module attributes {test.attribute = #mtc.target<device = "cpu", threads = 1, prepack = auto>} {}
// -----
// expected-error @+1 {{expected names of what is done within products of a GPU (bias, gelu), each once, found ["bias", "pointwise"]}}
module attributes {test.attribute = #mtc.target<device = "cuda:sm_90", threads = 1, epilogues = ["bias", "pointwise"]>} {}
// -----
// expected-error @+1 {{expected threads to be 1 to 65536, found 4294967297}}
module attributes {test.attribute = #mtc.target<device = "cpu", threads = 4294967297>} {}
// -----
// expected-error @+2 {{expected integer value}}
// expected-error @+1 {{found a wrong value of the field memory}}
module attributes {test.attribute = #mtc.target<device = "cpu", threads = 1, memory = >} {}
// -----
// expected-error @+1 {{expected zero to be 0, 1 or 2, found 3}}
module attributes {test.attribute = #mtc.optimizer<kind = adamw, zero = 3, bucket_size = 1>} {}
// -----
// expected-error @+1 {{expected groups to be names, each once, found ["a", "b", "a"]}}
module attributes {test.attribute = #mtc.optimizer<kind = lion, zero = 0, bucket_size = 1, groups = ["a", "b", "a"]>} {}
// -----
// expected-error @+1 {{expected groups to be names, each once, found [1]}}
module attributes {test.attribute = #mtc.optimizer<kind = lion, zero = 0, bucket_size = 1, groups = [1]>} {}
// -----
// expected-error @+1 {{expected at most 15 groups, found 16}}
module attributes {test.attribute = #mtc.optimizer<kind = lion, zero = 0, bucket_size = 1, groups = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"]>} {}

// -----

// expected-error @+2 {{expected one of [aligned, dense] for}}
// expected-error @+1 {{found a wrong value of the field layout}}
module attributes {test.attribute = #mtc.optimizer<kind = adamw, zero = 1, bucket_size = 1, layout = tight>} {}
// -----
// expected-error @+1 {{expected layers with the policy layers alone, found full with}}
module attributes {test.attribute = #mtc.recompute<policy = full, layers = 2>} {}
// -----
// expected-error @+1 {{expected layers with the policy layers alone, found layers without}}
module attributes {test.attribute = #mtc.recompute<policy = layers>} {}
// -----
// expected-error @+1 {{expected families with the policy ops alone, found selective with}}
module attributes {test.attribute = #mtc.recompute<policy = selective, families = ["norm"]>} {}
// -----
// expected-error @+1 {{expected families with the policy ops alone, found ops without}}
module attributes {test.attribute = #mtc.recompute<policy = ops>} {}
// -----
// expected-error @+1 {{expected layers to be 1 to 1048576, found 0}}
module attributes {test.attribute = #mtc.recompute<policy = layers, layers = 0>} {}
// -----
// expected-error @+1 {{expected names of op families, each once, found ["norm", "norm"]}}
module attributes {test.attribute = #mtc.recompute<policy = ops, families = ["norm", "norm"]>} {}
// -----
// expected-error @+1 {{expected names of op families, each once, found []}}
module attributes {test.attribute = #mtc.recompute<policy = ops, families = []>} {}
// -----
// expected-error @+1 {{expected microbatches with the policy microbatches alone, found full with}}
module attributes {test.attribute = #mtc.recompute<policy = full, microbatches = 2>} {}
// -----
// expected-error @+1 {{expected microbatches with the policy microbatches alone, found microbatches without}}
module attributes {test.attribute = #mtc.recompute<policy = microbatches>} {}
// -----
// expected-error @+1 {{expected microbatches to be 1 to 1048576, found 0}}
module attributes {test.attribute = #mtc.recompute<policy = microbatches, microbatches = 0>} {}
// -----
// expected-error @+1 {{expected memory to be at least 1, found 0}}
module attributes {test.attribute = #mtc.target<device = "cpu", threads = 1, memory = 0>} {}
// -----
// expected-error @+1 {{expected isa to say something, found ""}}
module attributes {test.attribute = #mtc.target<device = "cpu", isa = "", threads = 1>} {}
// -----
// expected-error @+1 {{expected names of what runs beside computations, each once, found ["p2p", "p2p"]}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 1, cp = 1, dp = 2, pp = 2>,
  batch = <micro = 2, microbatches = 2, global = 8, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>, overlap = ["p2p", "p2p"]>} {}
// -----
// expected-error @+1 {{expected names of what runs beside computations, each once, found ["everything"]}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 1, cp = 1, dp = 2, pp = 2>,
  batch = <micro = 2, microbatches = 2, global = 8, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>, overlap = ["everything"]>} {}
// -----
// expected-error @+1 {{expected names of what runs beside computations, each once, found []}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 1, cp = 1, dp = 2, pp = 2>,
  batch = <micro = 2, microbatches = 2, global = 8, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>, overlap = []>} {}
// -----
// expected-error @+1 {{expected gradients that are summed in bf16 (grad_dtype of the optimizer) of the precision bf16, found f32}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 1, cp = 1, dp = 2, pp = 2>,
  batch = <micro = 2, microbatches = 2, global = 8, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100, grad_dtype = bf16>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>} {}
// -----
// expected-error @+1 {{expected a global batch of 2 samples times 2 microbatches times 2 replicas, found 16}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 1, cp = 1, dp = 2, pp = 2>,
  batch = <micro = 2, microbatches = 2, global = 16, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>} {}
// -----
// expected-error @+1 {{expected a global batch of 4611686018427387904 samples times 4 microbatches times 2 replicas, found 8}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 1, cp = 1, dp = 2, pp = 2>,
  batch = <micro = 4611686018427387904, microbatches = 4, global = 8, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>} {}
// -----
// expected-error @+2 {{found a wrong value of the field mesh}}
// expected-error @+1 {{expected each axis once, found tp twice}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 1, cp = 1, dp = 2, tp = 2>,
  batch = <micro = 2, microbatches = 2, global = 8, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>} {}
// -----
// expected-error @+2 {{found a wrong value of the field mesh}}
// expected-error @+1 {{expected ranks along every axis (tp, cp, dp or pp), found none along dp}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 1, cp = 1, pp = 2>,
  batch = <micro = 2, microbatches = 2, global = 8, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>} {}
// -----
// expected-error @+2 {{found a wrong value of the field mesh}}
// expected-error @+1 {{expected an axis (tp, cp, dp or pp), found ep}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 1, cp = 1, dp = 2, pp = 2, ep = 1>,
  batch = <micro = 2, microbatches = 2, global = 8, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>} {}
// -----
// expected-error @+2 {{found a wrong value of the field mesh}}
// expected-error @+1 {{expected as the order each axis of the mesh once with dashes between, tp first, such as "tp-cp-dp-pp", found "pp-tp-cp-dp"}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 1, cp = 1, dp = 2, pp = 2, order = "pp-tp-cp-dp">,
  batch = <micro = 2, microbatches = 2, global = 8, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>} {}
// -----
// expected-error @+2 {{found a wrong value of the field mesh}}
// expected-error @+1 {{expected 1 to 65536 ranks along tp, found 0}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 0, cp = 1, dp = 2, pp = 2>,
  batch = <micro = 2, microbatches = 2, global = 8, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>} {}
// -----
// expected-error @+2 {{found a wrong value of the field mesh}}
// expected-error @+1 {{expected 1 to 65536 ranks along pp, found 65537}}
module attributes {test.attribute = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 1, cp = 1, dp = 2, pp = 65537>,
  batch = <micro = 2, microbatches = 2, global = 8, sequence = 32>, precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2, 2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 100>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>} {}
// -----
// expected-error @+1 {{expected mtc.config to be #mtc.config<model = <...>, ...>, found {tp = 2 : i64}}}
module attributes {mtc.config = {tp = 2 : i64}} {}
// -----
// expected-error @+1 {{expected no mtc.config, which is of the module, found one}}
func.func @f() attributes {mtc.config = 0 : i64} { return }

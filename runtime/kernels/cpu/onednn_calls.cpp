//===- onednn_calls.cpp - what oneDNN computes a product by ---------------===//
#include "runtime/kernels/cpu/onednn_calls.h"

#include <algorithm>

namespace mtc::runtime {

using dnnl::memory;

namespace {

using Place = OneDnnPlace;

memory::data_type typeOf(MtcDtype dtype) {
  return dtype == MTC_BF16 ? memory::data_type::bf16 : memory::data_type::f32;
}

/// [rows, columns], stored transposed if `transposed`.
memory::desc matrix(int64_t rows, int64_t columns, bool transposed,
                    MtcDtype dtype) {
  memory::dims strides =
      transposed ? memory::dims{1, rows} : memory::dims{columns, 1};
  return {{rows, columns}, typeOf(dtype), strides};
}

/// [rows, columns] in an order of oneDNN's choice.
memory::desc anyOrder(int64_t rows, int64_t columns, MtcDtype dtype) {
  return {{rows, columns}, typeOf(dtype), memory::format_tag::any};
}

/// Of a call, which adds to what its result holds if `adds`.
dnnl::primitive_attr attributes(bool adds) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (adds) {
    dnnl::post_ops ops;
    ops.append_sum(1.0f);
    attr.set_post_ops(ops);
  }
  return attr;
}

template <typename Planned>
void append(const Planned &planned, std::vector<OneDnnOperand> operands,
            OneDnnCalls &out) {
  const memory::desc scratch = planned.scratchpad_desc();
  operands.push_back({DNNL_ARG_SCRATCHPAD, Place::scratch, scratch});
  out.scratchBytes = std::max(out.scratchBytes, int64_t(scratch.get_size()));
  out.calls.push_back({dnnl::primitive(planned.get()), planned.impl_info_str(),
                       std::move(operands)});
}

void appendReorder(const memory::desc &from, Place at, const memory::desc &to,
                   Place then, bool adds, OneDnnCalls &out) {
  dnnl::engine engine = oneDnnEngine();
  append(
      dnnl::reorder::primitive_desc(engine, from, engine, to, attributes(adds)),
      {{DNNL_ARG_FROM, at, from}, {DNNL_ARG_TO, then, to}}, out);
}

void appendMatmul(const GemmDesc &d, OneDnnCalls &out) {
  dnnl::matmul::primitive_desc planned({matrix(d.m, d.k, d.ta, d.ab),
                                        matrix(d.k, d.n, d.tb, d.ab),
                                        matrix(d.m, d.n, false, d.c)},
                                       attributes(d.beta == 1), oneDnnEngine());
  append(planned,
         {{DNNL_ARG_SRC, Place::a, planned.src_desc()},
          {DNNL_ARG_WEIGHTS, Place::b, planned.weights_desc()},
          {DNNL_ARG_DST, Place::c, planned.dst_desc()}},
         out);
}

/// Weights are [outputs, inputs] to oneDNN, so these are op(b) transposed.
void appendForward(const GemmDesc &d, OneDnnCalls &out) {
  dnnl::inner_product_forward::primitive_desc planned(
      {dnnl::prop_kind::forward_inference, matrix(d.m, d.k, false, d.ab),
       anyOrder(d.n, d.k, d.ab), matrix(d.m, d.n, false, d.c)},
      attributes(d.beta == 1), oneDnnEngine());
  const memory::desc weights = planned.weights_desc();
  out.weightsBytes = int64_t(weights.get_size());
  appendReorder(matrix(d.n, d.k, !d.tb, d.ab), Place::b, weights,
                Place::weights, /*adds=*/false, out);
  append(planned,
         {{DNNL_ARG_SRC, Place::a, planned.src_desc()},
          {DNNL_ARG_WEIGHTS, Place::weights, weights},
          {DNNL_ARG_DST, Place::c, planned.dst_desc()}},
         out);
}

/// c is the gradient of weights of m outputs and n inputs; in f32 until it is
/// added to what is there, so that it is rounded once.
void appendByWeights(const GemmDesc &d, OneDnnCalls &out) {
  const memory::desc inputs = matrix(d.k, d.n, d.tb, d.ab),
                     outputs = matrix(d.k, d.m, false, d.ab);
  dnnl::inner_product_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, inputs, anyOrder(d.m, d.n, d.ab),
       outputs},
      attributes(false), oneDnnEngine());
  dnnl::inner_product_backward_weights::primitive_desc planned(
      {inputs, anyOrder(d.m, d.n, MTC_F32), outputs}, attributes(false),
      oneDnnEngine(), forward);
  const memory::desc weights = planned.diff_weights_desc();
  out.weightsBytes = int64_t(weights.get_size());
  append(planned,
         {{DNNL_ARG_SRC, Place::b, planned.src_desc()},
          {DNNL_ARG_DIFF_DST, Place::a, planned.diff_dst_desc()},
          {DNNL_ARG_DIFF_WEIGHTS, Place::weights, weights}},
         out);
  appendReorder(weights, Place::weights, matrix(d.m, d.n, false, d.c), Place::c,
                d.beta == 1, out);
}

} // namespace

dnnl::engine oneDnnEngine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

OneDnnCalls oneDnnCalls(const GemmDesc &desc) {
  OneDnnCalls out;
  if (desc.kernel == GemmKernel::library)
    appendMatmul(desc, out);
  else if (desc.ta)
    appendByWeights(desc, out);
  else
    appendForward(desc, out);
  return out;
}

bool isAllPlanned(const OneDnnCalls &calls) {
  return std::ranges::all_of(calls.calls, [](const OneDnnCall &call) {
    return call.name.starts_with("brg") ||
           (call.primitive.get_kind() == dnnl::primitive::kind::reorder &&
            call.name.starts_with("jit"));
  });
}

} // namespace mtc::runtime

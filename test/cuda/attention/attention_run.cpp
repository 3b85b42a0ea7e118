#include "attention_run.h"

#include "runtime/base/philox.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

namespace mtc::test {

using cuda::AttentionKernel;

std::string instance(const AttentionCase &c) {
  return (c.half ? "f16_d" : "bf16_d") +
         std::to_string(cuda::attentionHeadSize(c.dim));
}

std::string entryName(AttentionKernel kernel, const AttentionCase &c) {
  static const char *const names[] = {"forward", "dots", "queries", "keys"};
  return std::string("mtc_attention_") + names[int(kernel)] + "_" + instance(c);
}

std::string launchKernel(Machine &machine, AttentionKernel kernel,
                         const AttentionCase &c,
                         const cuda::AttentionParams &params) {
  int size = cuda::attentionHeadSize(c.dim);
  Machine::Grid grid{cuda::attentionGridX(kernel, size, c.seq, c.keys),
                     kernel == AttentionKernel::keys ? c.kvHeads : c.heads,
                     c.batch, cuda::attentionTiles(kernel, size).threads(),
                     cuda::attentionSharedBytes(kernel, size)};
  return machine.launch(entryName(kernel, c), grid, params);
}

namespace {

/// No number; results start so.
constexpr uint16_t kNothing = 0xffff;

/// Elements that a buffer has between values, and where it begins: fused
/// buffers have gaps.
int gap(const AttentionCase &c, int heads) {
  return c.fused ? 3 * heads : heads;
}

template <class T> const T *pointer(uint64_t address) {
  return std::bit_cast<const T *>(address);
}
template <class T> T *mutablePointer(uint64_t address) {
  return std::bit_cast<T *>(address);
}

} // namespace

uint64_t CaseOnMachine::place(const char *name,
                              const std::vector<uint16_t> &values, int tokens,
                              int heads, int part) {
  size_t wide = size_t(gap(c, heads)) * c.dim, row = size_t(heads) * c.dim;
  std::vector<uint16_t> image(size_t(c.batch) * tokens * wide, kNothing);
  for (size_t i = 0; i < values.size(); ++i)
    image[i / row * wide + (c.fused ? part * row : 0) + i % row] = values[i];
  uint64_t at = machine.allocate(2 * image.size(), name);
  if (wrong.empty())
    wrong = machine.upload(at, image.data(), 2 * image.size());
  return at + (c.fused ? 2 * part * row : 0);
}

CaseOnMachine::CaseOnMachine(Machine &machine, const AttentionCase &c,
                             const AttentionData &data)
    : machine(machine), c(c) {
  auto &p = params;
  p.q = pointer<uint16_t>(place("q", data.q, c.seq, c.heads, 0));
  p.k = pointer<uint16_t>(place("k", data.k, c.keys, c.kvHeads, 1));
  p.v = pointer<uint16_t>(place("v", data.v, c.keys, c.kvHeads, 2));
  p.dq = mutablePointer<uint16_t>(place("dq", {}, c.seq, c.heads, 0));
  p.dk = mutablePointer<uint16_t>(place("dk", {}, c.keys, c.kvHeads, 1));
  p.dv = mutablePointer<uint16_t>(place("dv", {}, c.keys, c.kvHeads, 2));
  p.dout = pointer<uint16_t>(place("dout", data.dout, c.seq, c.heads, 0));
  p.out = mutablePointer<uint16_t>(place("out", {}, c.seq, c.heads, 0));
  size_t rows = size_t(c.batch) * c.heads * c.seq;
  p.lse = mutablePointer<float>(machine.allocate(4 * rows, "lse"));
  p.dots = mutablePointer<float>(machine.allocate(4 * rows, "dots"));
  p.qHead = p.kHead = p.vHead = p.oHead = c.dim;
  p.qToken = p.oToken = int64_t(gap(c, c.heads)) * c.dim;
  p.kToken = p.vToken = int64_t(gap(c, c.kvHeads)) * c.dim;
  p.seq = c.seq;
  p.keys = c.keys;
  p.headDim = c.dim;
  p.heads = c.heads;
  p.group = c.group();
  p.first = c.first;
  p.begin = c.begin;
  p.begin2 = c.begin2;
  p.causal = c.causal;
  p.scale = float(scaleOf(c));
  p.dropScale = 1;
  if (!data.documents.empty()) {
    uint64_t at = machine.allocate(4 * data.documents.size(), "documents");
    p.documents = pointer<int32_t>(at);
    wrong +=
        machine.upload(at, data.documents.data(), 4 * data.documents.size());
  }
  if (c.rate > 0) {
    runtime::DropoutRule rule = runtime::dropoutRule(c.rate);
    p.dropThreshold = rule.threshold;
    p.dropScale = rule.scale;
    p.layerSite = kLayer << 8 | kSite;
    p.head = kFirstHead;
    p.sample = kSample - 1000;
    uint64_t block[2] = {kSeed, 1000};
    uint64_t at = machine.allocate(sizeof block, "step block");
    p.seed = pointer<uint64_t>(at);
    p.sampleBase = pointer<uint64_t>(at + 8);
    wrong += machine.upload(at, block, sizeof block);
  }
}

std::string CaseOnMachine::forward() {
  if (!wrong.empty())
    return wrong;
  return launchKernel(machine, AttentionKernel::forward, c, params);
}

std::string CaseOnMachine::backward() {
  for (AttentionKernel kernel :
       {AttentionKernel::dots, AttentionKernel::queries, AttentionKernel::keys})
    if (std::string text = launchKernel(machine, kernel, c, params);
        !text.empty())
      return text;
  return "";
}

std::vector<uint16_t> CaseOnMachine::readValues(const void *at, int tokens,
                                                int heads, int64_t token,
                                                int64_t head) {
  size_t all = size_t(c.batch) * tokens;
  std::vector<uint16_t> image((all - 1) * token + (heads - 1) * head + c.dim);
  wrong += machine.download(image.data(), std::bit_cast<uint64_t>(at),
                            2 * image.size());
  std::vector<uint16_t> values;
  for (size_t t = 0; t < all; ++t)
    for (int h = 0; h < heads; ++h)
      for (int e = 0; e < c.dim; ++e) {
        values.push_back(image[t * token + h * head + e]);
        image[t * token + h * head + e] = kNothing;
      }
  if (wrong.empty() && std::ranges::count(image, kNothing) != int(image.size()))
    wrong = "something is written between results";
  return values;
}

std::string CaseOnMachine::read(Found &found) {
  const auto &p = params;
  found.out = readValues(p.out, c.seq, c.heads, p.oToken, p.oHead);
  found.dq = readValues(p.dq, c.seq, c.heads, p.qToken, p.qHead);
  found.dk = readValues(p.dk, c.keys, c.kvHeads, p.kToken, p.kHead);
  found.dv = readValues(p.dv, c.keys, c.kvHeads, p.vToken, p.vHead);
  found.lse.resize(size_t(c.batch) * c.heads * c.seq);
  wrong += machine.download(found.lse.data(), std::bit_cast<uint64_t>(p.lse),
                            4 * found.lse.size());
  return wrong;
}

namespace {

template <class Value>
void compareAll(const char *name, const Expected &expected, size_t count,
                const Value &value, double &ratio, std::string &text) {
  ratio = 0;
  bool said = false;
  for (size_t i = 0; i < count; ++i) {
    double x = value(i), error = std::fabs(x - expected.value[i]);
    // Bounds that are zero allow nothing.
    double r = error == 0 ? 0 : error / expected.bound[i];
    if (!(r <= ratio))
      ratio = r;
    if (!(r <= 1) && !said) {
      std::ostringstream line;
      line << name << "[" << i << "]: expected " << expected.value[i]
           << " within " << expected.bound[i] << ", found " << x << "; ";
      text += line.str();
      said = true;
    }
  }
}

} // namespace

std::string compare(const AttentionCase &c, const AttentionResults &expected,
                    const CaseOnMachine::Found &found, bool withGradients,
                    Ratios &ratios) {
  std::string text;
  auto one = [&](const char *name, const Expected &e,
                 const std::vector<uint16_t> &bits, double &ratio) {
    compareAll(
        name, e, bits.size(),
        [&](size_t i) { return valueOf(c.half, bits[i]); }, ratio, text);
  };
  ratios = {};
  one("out", expected.out, found.out, ratios.out);
  compareAll(
      "lse", expected.lse, found.lse.size(),
      [&](size_t i) { return double(found.lse[i]); }, ratios.lse, text);
  if (withGradients) {
    one("dq", expected.dq, found.dq, ratios.dq);
    one("dk", expected.dk, found.dk, ratios.dk);
    one("dv", expected.dv, found.dv, ratios.dv);
  }
  return text;
}

} // namespace mtc::test

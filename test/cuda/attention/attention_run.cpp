#include "attention_run.h"

#include "runtime/base/philox.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <sstream>

namespace mtc::test {

using cuda::AttentionKernel;

std::vector<std::byte> packed(Element element,
                              const std::vector<uint32_t> &bits) {
  size_t size = bytesOf(element);
  std::vector<std::byte> bytes(size * bits.size());
  for (size_t i = 0; i < bits.size(); ++i)
    std::memcpy(&bytes[size * i], &bits[i], size);
  return bytes;
}

static int headSize(const AttentionCase &c) {
  return cuda::attentionHeadSize(c.element == Element::f16, c.dim);
}

std::string instance(const AttentionCase &c) {
  return std::string(nameOf(c.element)) + "_d" + std::to_string(headSize(c)) +
         (c.groups ? "_sm_90a" : "");
}

std::string entryName(AttentionKernel kernel, const AttentionCase &c) {
  static const char *const names[] = {"forward", "dots", "queries", "keys"};
  return std::string("mtc_attention_") + names[int(kernel)] + "_" + instance(c);
}

std::string launchKernel(Machine &machine, AttentionKernel kernel,
                         const AttentionCase &c,
                         const cuda::AttentionParams &params) {
  int size = headSize(c);
  int heads = kernel == AttentionKernel::keys ? c.kvHeads : c.heads;
  auto form = c.groups                    ? cuda::AttentionForm::groups
              : c.element == Element::f32 ? cuda::AttentionForm::floats
                                          : cuda::AttentionForm::warps;
  auto shape = cuda::attentionShape(form, kernel, size, c.seq, c.keys);
  return machine.launch(
      entryName(kernel, c),
      {shape.blocks, heads, c.batch, shape.threads, shape.shared}, params);
}

namespace {

/// No number; results start so.
uint32_t nothing(Element element) {
  return element == Element::f32 ? 0xffffffff : 0xffff;
}

template <class T> const T *pointer(uint64_t address) {
  return std::bit_cast<const T *>(address);
}
template <class T> T *mutablePointer(uint64_t address) {
  return std::bit_cast<T *>(address);
}

} // namespace

uint64_t CaseOnMachine::place(const char *name,
                              const std::vector<uint32_t> &values, int tokens,
                              int heads, int part) {
  size_t wide = stride(heads, part), row = size_t(heads) * c.dim;
  size_t first = wide == row ? 0 : part * row;
  std::vector<uint32_t> image(size_t(c.batch) * tokens * wide,
                              nothing(c.element));
  for (size_t i = 0; i < values.size(); ++i)
    image[i / row * wide + first + i % row] = values[i];
  std::vector<std::byte> bytes = packed(c.element, image);
  uint64_t at = machine.allocate(bytes.size(), name);
  if (wrong.empty())
    wrong = machine.upload(at, bytes.data(), bytes.size());
  return at + bytesOf(c.element) * first;
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
  p.dout = pointer<uint16_t>(place("dout", data.dout, c.seq, c.heads, kAlone));
  p.out = mutablePointer<uint16_t>(place("out", {}, c.seq, c.heads, kAlone));
  size_t rows = size_t(c.batch) * c.heads * c.seq;
  p.lse = mutablePointer<float>(machine.allocate(4 * rows, "lse"));
  p.dots = mutablePointer<float>(machine.allocate(4 * rows, "dots"));
  p.qHead = p.kHead = p.vHead = p.oHead = c.dim;
  p.qToken = stride(c.heads, 0);
  p.kToken = p.vToken = stride(c.kvHeads, 0);
  p.oToken = stride(c.heads, kAlone);
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

std::vector<uint32_t> CaseOnMachine::readValues(const void *at, int tokens,
                                                int heads, int64_t token,
                                                int64_t head) {
  size_t all = size_t(c.batch) * tokens, size = bytesOf(c.element);
  std::vector<uint32_t> image((all - 1) * token + (heads - 1) * head + c.dim);
  std::vector<std::byte> bytes(size * image.size());
  wrong +=
      machine.download(bytes.data(), std::bit_cast<uint64_t>(at), bytes.size());
  for (size_t i = 0; i < image.size(); ++i)
    std::memcpy(&image[i], &bytes[size * i], size);
  const uint32_t none = nothing(c.element);
  std::vector<uint32_t> values;
  for (size_t t = 0; t < all; ++t)
    for (int h = 0; h < heads; ++h)
      for (int e = 0; e < c.dim; ++e) {
        values.push_back(image[t * token + h * head + e]);
        image[t * token + h * head + e] = none;
      }
  if (wrong.empty() && std::ranges::count(image, none) != int(image.size()))
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
                 const std::vector<uint32_t> &bits, double &ratio) {
    compareAll(
        name, e, bits.size(),
        [&](size_t i) { return valueOf(c.element, bits[i]); }, ratio, text);
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

#include "attention_case.h"

#include "mtc/runtime/gpu_attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

namespace mtc::test {

const char *nameOf(Element element) {
  switch (element) {
  case Element::bf16:
    return "bf16";
  case Element::f16:
    return "f16";
  case Element::f32:
    return "f32";
  }
  return "";
}

int bytesOf(Element element) { return element == Element::f32 ? 4 : 2; }

double valueOf(Element element, uint32_t bits) {
  if (element != Element::f16)
    return std::bit_cast<float>(element == Element::f32 ? bits : bits << 16);
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double x = exponent == 31  ? (fraction ? NAN : INFINITY)
             : exponent == 0 ? std::ldexp(fraction, -24)
                             : std::ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 ? -x : x;
}

uint32_t bitsOf(Element element, double value) {
  if (element == Element::f32)
    return std::bit_cast<uint32_t>(float(value));
  bool half = element == Element::f16;
  int digits = half ? 10 : 7, bias = half ? 15 : 127, exponent = 0;
  if (value == 0)
    return 0;
  std::frexp(value, &exponent);
  // Of the spacing of values there; those of subnormals are the least.
  int unit = std::max(exponent - 1, 1 - bias) - digits;
  auto count = uint32_t(std::nearbyint(std::ldexp(std::fabs(value), -unit)));
  uint32_t bits = (uint32_t(unit + digits + bias - 1) << digits) + count;
  return bits | (value < 0 ? 0x8000u : 0);
}

double scaleOf(const AttentionCase &c) {
  return float(1 / std::sqrt(double(c.dim)));
}

AttentionData makeData(const AttentionCase &c) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  auto fill = [&](int tokens, int heads) {
    std::vector<uint32_t> x(size_t(c.batch) * tokens * heads * c.dim);
    for (uint32_t &e : x)
      e = bitsOf(c.element, normal(random));
    return x;
  };
  AttentionData data{fill(c.seq, c.heads),
                     fill(c.keys, c.kvHeads),
                     fill(c.keys, c.kvHeads),
                     fill(c.seq, c.heads),
                     {}};
  if (c.documents)
    for (int b = 0; b < c.batch; ++b)
      for (int i = 0; i < c.seq; ++i) {
        int length = c.documents + c.documents * 3 / 4 * b;
        data.documents.push_back(c.position(i) / length * length);
      }
  return data;
}

namespace {

class Cases {
public:
  Element element = Element::bf16;
  std::vector<AttentionCase> all;

  /// The new one, until the next comes.
  AttentionCase *add(const char *name, int dim, int seq, int keys,
                     bool causal) {
    AttentionCase c;
    c.name = name;
    c.element = element;
    c.dim = dim;
    c.seq = c.first = seq;
    c.keys = keys;
    c.causal = causal;
    all.push_back(c);
    return &all.back();
  }
};

/// Their tiles have 16 to 128 rows.
void addHalfCases(Cases &cases) {
  for (int dim : {32, 64, 96, 128, 256}) {
    cases.add("one", dim, 1, 1, true);
    cases.add("tail", dim, 77, 77, true);
    auto *full = cases.add("full", dim, 52, 52, true);
    full->heads = 4;
    full->kvHeads = full->batch = 2;
    full->rate = 0.2;
    full->documents = 29;
  }
  for (int dim : {8, 16, 80, 160})
    cases.add("narrow", dim, 50, 50, true)->heads = 3;
  cases.add("even", 64, 128, 128, false);
  cases.add("all", 64, 70, 150, false);
  cases.add("causal", 64, 200, 200, true)->fused = true;
  cases.add("many", 128, 300, 300, true);
  auto *grouped = cases.add("grouped", 64, 90, 90, true);
  grouped->heads = 6;
  grouped->kvHeads = 2;
  grouped->batch = 2;
  auto *dropped = cases.add("dropped", 64, 64, 64, false);
  dropped->rate = 0.25;
  dropped->heads = 2;
  dropped = cases.add("dropped_odd", 64, 77, 77, true);
  dropped->rate = 0.1;
  dropped->batch = 2;
  dropped = cases.add("dropped_wide", 128, 45, 45, true);
  dropped->rate = 0.5;
  auto *pieces = cases.add("pieces", 64, 80, 300, true);
  pieces->first = 40;
  pieces->begin = 40;
  pieces->begin2 = 110;
  pieces->rate = 0.1;
  pieces = cases.add("pieces", 256, 20, 140, true); // no query sees the last
  pieces->first = pieces->begin = 10;
  pieces->begin2 = 40;
  auto *documents = cases.add("documents", 64, 170, 170, true);
  documents->documents = 29;
  documents->batch = 2;
  cases.element = Element::f16;
  for (int dim : {32, 64, 96, 128, 256})
    cases.add("half", dim, 70, 70, true);
  for (int dim : {8, 72, 136})
    cases.add("narrow", dim, 40, 40, true)->heads = 2;
}

bool hasGroups(const AttentionCase &c) {
  return cuda::hasGroupAttention(
      "sm_90a", c.element == Element::f32,
      cuda::attentionHeadSize(c.element == Element::f16, c.dim));
}

/// Those of halves whose heads kernels by warpgroups have; their blocks have
/// 128 rows.
void addGroupCases(Cases &cases) {
  const std::vector<AttentionCase> halves = cases.all;
  for (const AttentionCase &c : halves)
    if (hasGroups(c)) {
      cases.all.push_back(c);
      cases.all.back().groups = true;
    }
  cases.element = Element::bf16;
  cases.add("blocks", 64, 300, 300, true)->groups = true;
  cases.add("narrow", 40, 140, 140, true)->groups = true;
}

/// A block has 4 rows, and there are no tiles: fewer tokens do. Heads are of
/// any size.
void addFloatCases(Cases &cases) {
  cases.element = Element::f32;
  for (int dim : {32, 64, 96, 128, 256}) {
    cases.add("one", dim, 1, 1, true);
    cases.add("tail", dim, 37, 37, true);
    auto *full = cases.add("full", dim, 18, 18, true);
    full->heads = 4;
    full->kvHeads = full->batch = 2;
    full->rate = 0.2;
    full->documents = 7;
  }
  for (int dim : {1, 20, 33, 65, 100, 129})
    cases.add("narrow", dim, 14, 14, true)->heads = 3;
  cases.add("even", 64, 32, 32, false);
  cases.add("all", 64, 18, 59, false);
  cases.add("causal", 64, 50, 50, true)->fused = true;
  cases.add("many", 128, 90, 90, true);
  auto *grouped = cases.add("grouped", 64, 19, 19, true);
  grouped->heads = 6;
  grouped->kvHeads = 2;
  grouped->batch = 2;
  auto *dropped = cases.add("dropped", 64, 20, 20, false);
  dropped->rate = 0.25;
  dropped->heads = 2;
  auto *pieces = cases.add("pieces", 64, 26, 99, true);
  pieces->first = 13;
  pieces->begin = 13;
  pieces->begin2 = 60;
  pieces->rate = 0.1;
  pieces->documents = 20;
  auto *documents = cases.add("documents", 64, 38, 38, false);
  documents->documents = 7;
  documents->batch = 2;
}

} // namespace

std::vector<AttentionCase> attentionCases() {
  Cases cases;
  addHalfCases(cases);
  addGroupCases(cases);
  addFloatCases(cases);
  return std::move(cases.all);
}

std::vector<AttentionCase> largeAttentionCases() {
  AttentionCase c;
  c.name = "large";
  c.seq = c.first = c.keys = 1000;
  c.causal = true;
  c.heads = 2;
  c.rate = 0.1;
  AttentionCase wide = c;
  wide.dim = 128;
  wide.heads = 1;
  wide.rate = 0;
  AttentionCase groups = c;
  groups.groups = true;
  return {c, wide, groups};
}

} // namespace mtc::test

// Flash attention against the definition in double, on each instruction set.
#include "attention_reference.h"

#include "runtime/kernels/cpu/isa.h"
#include "test/unit/half.h"
#include "test/unit/kernels/no_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace mtc;
using namespace mtc::test;

namespace {

/// Of each position of `batch` samples where its document begins; documents
/// have `longest` tokens at most.
std::vector<int32_t> documentsOf(int64_t batch, int64_t seq, int longest) {
  std::mt19937 rng(unsigned(seq + longest));
  std::vector<int32_t> starts;
  for (int64_t b = 0; b < batch; ++b)
    for (int32_t i = 0, start = 0, end = 0; i < seq; ++i) {
      if (i == end) {
        start = i;
        end = i + 1 + int32_t(rng() % unsigned(longest));
      }
      starts.push_back(start);
    }
  return starts;
}

/// Whether products take probabilities and their gradients rounded to bf16.
bool roundsProbabilities(MtcDtype dtype) {
  return dtype == MTC_BF16 &&
         runtime::isaIncludes(runtime::mtc_kernels_isa(), "x86-64-v4-bf16");
}

/// Runs the library and compares all results with the definition.
void check(const Sizes &sizes, Layout layout,
           const std::vector<int32_t> &documents = {}) {
  SCOPED_TRACE(testing::Message()
               << "batch " << sizes.batch << " seq " << sizes.seq << " heads "
               << sizes.heads << "/" << sizes.kvHeads << " dim " << sizes.dim
               << " causal " << sizes.causal << " dropout " << sizes.dropout
               << " layout " << int(layout) << " dtype " << sizes.dtype << " "
               << runtime::mtc_kernels_isa());
  Problem p(sizes, layout);
  p.documents = documents;
  const bool hasTiles = runtime::mtc_kernels_isa() == "x86-64-v4-amx";
  p.forward();
  EXPECT_TRUE(!hasTiles || hasNoTiles());
  p.backward();
  EXPECT_TRUE(!hasTiles || hasNoTiles());
  Reference r = reference(p);
  const MtcAttention &d = p.shape;
  // Errors relative to the largest element. A score is a sum of head_dim
  // products of unit normals times 1/sqrt(head_dim), so its rounding error is a
  // few units of 2^-24 and grows like sqrt(head_dim) at worst; a probability
  // inherits that as a relative error; sums over keys add sqrt(seq) more.
  // Four units for each of those is loose by about 3 and still 100 times below
  // the effect of one wrong mask element.
  double tolerance =
      4 * 0x1p-24 *
      (4 + std::sqrt(double(sizes.dim)) + std::sqrt(double(sizes.seq)));
  double exact = tolerance; // of lse, which is fp32
  // With 16 bits each result is rounded once: half a unit of its own last
  // place.
  double own = isHalf(sizes.dtype) ? roundoffOf(sizes.dtype) : 0;
  tolerance *= 1 + own;
  // As much more may each term of a sum be off whose factor is rounded. What it
  // is rounded from has the error of fp32; the result's rounding adds a part
  // of the error.
  double part = roundsProbabilities(sizes.dtype)
                    ? roundoffOf(sizes.dtype) * (1 + roundoffOf(sizes.dtype))
                    : 0;
  auto compare = [&](const char *what, const float *x, int64_t heads,
                     int64_t token, int64_t head,
                     const std::vector<double> &expected,
                     std::vector<double> allowed) {
    for (size_t i = 0; i < allowed.size(); ++i)
      allowed[i] = part * allowed[i] +
                   own * (std::fabs(expected[i]) + part * allowed[i]);
    // With one key the softmax is constant: dq and dk are zero up to rounding.
    EXPECT_LT(relativeError(dense(p, x, heads, token, head), expected, allowed),
              tolerance)
        << what;
  };
  compare("out", p.out.data(), d.heads, d.o_token_stride, d.o_head_stride,
          r.out, r.outSize);
  compare("dv", &p.dqkv[size_t(p.vAt)], d.kv_heads, d.v_token_stride,
          d.v_head_stride, r.dv, r.dvSize);
  EXPECT_LT(relativeError({p.lse.begin(), p.lse.end()}, r.lse), exact);
  if (sizes.seq == 1)
    return;
  compare("dq", &p.dqkv[size_t(p.qAt)], d.heads, d.q_token_stride,
          d.q_head_stride, r.dq, r.dqSize);
  compare("dk", &p.dqkv[size_t(p.kAt)], d.kv_heads, d.k_token_stride,
          d.k_head_stride, r.dk, r.dkSize);
}

class Attention : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!runtime::mtc_kernels_select_isa(GetParam()).ok())
      GTEST_SKIP() << "this CPU lacks " << GetParam();
  }
};

} // namespace

TEST_P(Attention, OddSizes) {
  for (int64_t seq : {1, 7, 33, 64, 65, 100, 192})
    for (int64_t dim : {4, 16, 20, 64, 128})
      for (bool causal : {true, false})
        check({1, seq, 1, 1, dim, causal, 0.0}, Layout::dense);
}

TEST_P(Attention, Dropout) {
  for (int64_t seq : {7, 33, 64, 100, 130, 132}) // odd: rows start in a block
    for (bool causal : {true, false})
      check({2, seq, 2, 2, 16, causal, 0.2}, Layout::dense);
}

// Blocks of random words are counted in 64 bits: here the lower half of their
// number wraps in the middle of row 91.
TEST_P(Attention, DropoutBeyond32Bits) {
  Problem p({1, 100, 1, 1, 16, true, 0.3}, Layout::dense);
  p.head = 1717986;
  ASSERT_EQ((p.head * 100 * 100 + 91 * 100 + 84) / 4, int64_t(1) << 32);
  p.forward();
  p.backward();
  Reference r = reference(p);
  EXPECT_LT(relativeError({p.out.begin(), p.out.end()}, r.out), 0x1p-18);
  EXPECT_LT(relativeError(dense(p, &p.dqkv[size_t(p.vAt)], 1, 16, 16), r.dv),
            0x1p-18);
}

// Its arrays fill a second cache, in both types.
TEST_P(Attention, LongHeads) {
  for (MtcDtype dtype : {MTC_F32, MTC_BF16})
    check({1, 320, 2, 1, 128, true, 0.1, dtype}, Layout::dense);
}

// Documents that end inside of tiles, that have whole tiles before them, and of
// one token each.
TEST_P(Attention, WithinDocuments) {
  for (int64_t seq : {7, 64, 65, 130, 200})
    for (int longest : {1, 5, 40, 150}) {
      std::vector<int32_t> documents = documentsOf(2, seq, longest);
      // Of one token: dq and dk are zero, and so is what they are compared
      // with.
      if (longest > 1)
        check({2, seq, 2, 2, 16, true, 0.0}, Layout::dense, documents);
      check({2, seq, 4, 2, 20, true, 0.2},
            longest == 5 ? Layout::padded : Layout::dense,
            longest > 1 ? documents : documentsOf(2, seq, 2));
    }
  check({2, 130, 3, 3, 20, true, 0.1}, Layout::fused, documentsOf(2, 130, 30));
  for (MtcDtype half : {MTC_BF16, MTC_F16})
    check({1, 130, 2, 1, 20, true, 0.2, half}, Layout::dense,
          documentsOf(1, 130, 60));
}

// One document, which began before the sample, is none; a start behind a query
// leaves it itself.
TEST_P(Attention, DocumentsOfAnyNumbers) {
  Problem plain({1, 130, 2, 2, 16, true, 0.1}, Layout::dense);
  Problem one = plain, odd = plain;
  one.documents.assign(130, 0);
  for (int32_t i = 0; i < 130; ++i)
    odd.documents.push_back(i % 3 ? i - 50 : 129);
  for (Problem *p : {&plain, &one, &odd}) {
    p->forward();
    p->backward();
  }
  EXPECT_LT(relativeError({one.out.begin(), one.out.end()},
                          {plain.out.begin(), plain.out.end()}),
            0x1p-20);
  EXPECT_LT(relativeError({odd.out.begin(), odd.out.end()}, reference(odd).out),
            0x1p-18);
  for (float x : odd.dqkv)
    EXPECT_TRUE(std::isfinite(x));
}

// Rounding alone may put such a score as far above the largest one as it is
// wide: a row's probabilities are those of one key all the same.
TEST_P(Attention, ScoresFarFromZero) {
  for (MtcDtype dtype : {MTC_F32, MTC_BF16})
    for (bool causal : {true, false}) {
      Problem p({1, 130, 2, 2, 16, causal, 0.0, dtype}, Layout::dense);
      const auto values = size_t(p.vAt); // q and k lie in front of v
      for (size_t i = 0; i < values; ++i)
        p.qkv[i] *= 0x1p20f;
      p.forward();
      p.backward();
      const Reference r = reference(p);
      const MtcAttention &d = p.shape;
      EXPECT_LT(relativeError({p.out.begin(), p.out.end()}, r.out), 0x1p-8)
          << dtype << causal;
      EXPECT_LT(relativeError(dense(p, &p.dqkv[values], d.kv_heads,
                                    d.v_token_stride, d.v_head_stride),
                              r.dv),
                0x1p-7)
          << dtype << causal;
    }
}

TEST_P(Attention, GroupedQueries) {
  check({2, 70, 6, 2, 20, true, 0.1}, Layout::dense);
  check({1, 100, 4, 1, 16, true, 0.0}, Layout::padded);
}

TEST_P(Attention, Halves) {
  for (MtcDtype half : {MTC_BF16, MTC_F16}) {
    for (int64_t seq : {1, 7, 33, 65, 130})
      for (int64_t dim : {4, 5, 20, 33, 64})
        for (bool causal : {true, false})
          check({1, seq, 1, 1, dim, causal, 0.0, half}, Layout::dense);
    for (int64_t dim : {96, 128})
      check({1, 150, 4, 2, dim, true, 0.1, half}, Layout::padded);
    for (bool causal : {true, false}) {
      check({2, 70, 6, 2, 20, causal, 0.2, half}, Layout::dense);
      check({1, 132, 2, 1, 20, causal, 0.2, half}, Layout::dense);
    }
    check({2, 70, 3, 3, 20, true, 0.1, half}, Layout::fused);
    check({1, 100, 4, 1, 16, true, 0.2, half}, Layout::padded);
  }
}

// Not only near: the kernels are those of fp32 on the widened values, and every
// result is rounded once, to nearest even. Gaps are compared, too.
TEST_P(Attention, HalvesAreFp32RoundedOnce) {
  for (MtcDtype type : {MTC_BF16, MTC_F16})
    for (Layout layout : {Layout::dense, Layout::fused, Layout::padded}) {
      if (roundsProbabilities(type))
        continue;
      int64_t kvHeads = layout == Layout::fused ? 4 : 2;
      Problem half({2, 130, 4, kvHeads, 20, true, 0.2, type}, layout);
      Problem full = half;
      full.shape.dtype = MTC_F32;
      full.forward();
      half.forward();
      EXPECT_EQ(half.out, roundedTo(type, full.out));
      EXPECT_NE(half.out, full.out);
      EXPECT_EQ(half.lse, full.lse);
      full.out = half.out;
      full.backward();
      half.backward();
      EXPECT_EQ(half.dqkv, roundedTo(type, full.dqkv));
    }
}

TEST_P(Attention, StridedLayouts) {
  check({2, 70, 3, 3, 20, true, 0.1}, Layout::fused);
  check({2, 70, 3, 3, 20, true, 0.1}, Layout::padded);
}

TEST_P(Attention, GapsStayUntouched) {
  Problem p({2, 33, 2, 1, 20, true, 0.0}, Layout::padded);
  Problem before = p;
  p.forward();
  p.backward();
  for (size_t i = 0; i < p.out.size(); ++i)
    EXPECT_EQ(p.out[i] == Problem::kGap, p.dout[i] == Problem::kGap);
  for (size_t i = 0; i < p.qkv.size(); ++i)
    EXPECT_EQ(p.dqkv[i] == Problem::kGap, p.qkv[i] == Problem::kGap);
  EXPECT_EQ(p.qkv, before.qkv);
}

TEST_P(Attention, RepeatsBitwise) {
  Sizes sizes{2, 130, 2, 1, 64, true, 0.1};
  Problem a(sizes, Layout::dense), b(sizes, Layout::dense);
  for (Problem *p : {&a, &b}) {
    p->forward();
    p->backward();
  }
  EXPECT_EQ(a.out, b.out);
  EXPECT_EQ(a.lse, b.lse);
  EXPECT_EQ(a.dqkv, b.dqkv);
}

// A sample or a head computed alone has the bits that it has in the whole: the
// mask is addressed by absolute sample and global head (contract N2).
TEST_P(Attention, PartsHaveTheBitsOfTheWhole) {
  Problem whole({2, 70, 3, 3, 16, true, 0.3}, Layout::dense);
  whole.forward();
  whole.backward();
  Problem part = whole;
  part.shape.batch = 1;
  part.shape.heads = part.shape.kv_heads = 1;
  part.sample += 1;
  part.head += 2;
  int64_t skip = 70 * part.shape.q_token_stride + 2 * 16;
  for (int64_t *at : {&part.qAt, &part.kAt, &part.vAt})
    *at += skip;
  part.dout.erase(part.dout.begin(), part.dout.begin() + skip);
  part.forward();
  part.backward();
  for (int64_t t = 0; t < 70; ++t)
    for (int64_t e = 0; e < 16; ++e) {
      size_t at = size_t(t * part.shape.o_token_stride + e);
      EXPECT_EQ(part.out[at], whole.out[at + size_t(skip)]);
    }
  EXPECT_EQ(part.dqkv, whole.dqkv); // rewritten in place with the same bits
}

/// The queries of a rank that has, of 2·ranks pieces, those with number `rank`
/// from the start and from the end, against the keys of all.
Problem twoPieces(const Problem &whole, int64_t ranks, int64_t rank) {
  Problem part = whole;
  int64_t piece = whole.shape.seq / (2 * ranks);
  int64_t row = whole.shape.heads * whole.shape.head_dim;
  part.begin[0] = rank * piece;
  part.begin[1] = (2 * ranks - 1 - rank) * piece;
  part.shape.seq = 2 * piece;
  part.shape.first = piece;
  std::vector<float> dout;
  std::vector<float> q;
  for (int64_t begin : part.begin)
    for (int64_t i = begin * row; i < (begin + piece) * row; ++i) {
      q.push_back(whole.qkv[size_t(whole.qAt + i)]);
      dout.push_back(whole.dout[size_t(i)]);
    }
  std::copy(q.begin(), q.end(), part.qkv.begin() + part.qAt);
  if (!whole.documents.empty()) {
    part.documents.clear();
    for (int64_t begin : part.begin)
      for (int64_t i = begin; i < begin + piece; ++i)
        part.documents.push_back(whole.documents[size_t(i)]);
  }
  part.dout = dout;
  part.out.resize(dout.size());
  part.lse.resize(size_t(part.shape.heads * part.shape.seq));
  return part;
}

// Queries in two pieces see the keys before them, and have the mask of their
// places: every query has the bits that it has in the whole, and what the
// pieces give keys and values adds up. 70 positions in pieces of 35 end inside
// of tiles, 264 in pieces of 66 and 44 begin in the middle of some, 132 in
// pieces of 33 have an odd number of rows, and of 456 in pieces of 114 rows of
// one document lie beside rows of another one, which see keys far in front.
void piecesAddUp(MtcDtype dtype, double tolerance) {
  for (auto [seq, ranks] : {std::pair<int64_t, int64_t>{70, 1},
                            {264, 2},
                            {264, 3},
                            {132, 2},
                            {16, 4},
                            {456, 2}})
    for (auto [causal, longest] : {std::pair<bool, int>{true, 0},
                                   {false, 0},
                                   {true, 90},
                                   {true, 7},
                                   {true, 250}}) {
      Problem whole({1, seq, 2, 2, 16, causal, 0.3, dtype}, Layout::dense);
      if (longest > 0)
        whole.documents = documentsOf(1, seq, longest);
      if (longest == 250) // 250 tokens, then the others
        for (int64_t i = 0; i < seq; ++i)
          whole.documents[size_t(i)] = i < longest ? 0 : longest;
      whole.forward();
      whole.backward();
      int64_t row = 2 * 16;
      std::vector<double> dk(size_t(seq * row)), dv(dk), dkWhole, dvWhole;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        Problem part = twoPieces(whole, ranks, rank);
        part.forward();
        part.backward();
        for (int64_t i = 0; i < part.shape.seq * row; ++i) {
          int64_t half = i / (part.shape.first * row);
          int64_t at = i + (part.begin[half] - half * part.shape.first) * row;
          EXPECT_EQ(part.out[size_t(i)], whole.out[size_t(at)]) << i;
          EXPECT_EQ(part.dqkv[size_t(part.qAt + i)],
                    whole.dqkv[size_t(whole.qAt + at)])
              << i;
        }
        for (size_t i = 0; i < dk.size(); ++i) {
          dk[i] += double(part.dqkv[size_t(part.kAt) + i]);
          dv[i] += double(part.dqkv[size_t(part.vAt) + i]);
        }
      }
      for (size_t i = 0; i < dk.size(); ++i) {
        dkWhole.push_back(double(whole.dqkv[size_t(whole.kAt) + i]));
        dvWhole.push_back(double(whole.dqkv[size_t(whole.vAt) + i]));
      }
      EXPECT_LT(relativeError(dk, dkWhole), tolerance);
      EXPECT_LT(relativeError(dv, dvWhole), tolerance);
    }
}

TEST_P(Attention, PiecesAddUpToTheWhole) {
  // The same few hundred products, added in another order.
  piecesAddUp(MTC_F32, 0x1p-18);
  // Each of up to four pieces and the whole are rounded: to half a unit of what
  // is at most about as large as the largest element of the whole.
  piecesAddUp(MTC_BF16, 5 * 0x1p-8);
}

/// Runs a copy of the problem on that many threads.
Problem onThreads(const Problem &given, int32_t threads) {
  Problem p = given;
  p.threads = threads;
  p.forward();
  p.backward();
  return p;
}

void expectSameOnThreads(const Problem &given) {
  Problem one = onThreads(given, 1);
  for (int32_t threads : {2, 3, 5}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    Problem more = onThreads(given, threads);
    EXPECT_EQ(more.out, one.out);
    EXPECT_EQ(more.lse, one.lse);
    EXPECT_EQ(more.dqkv, one.dqkv);
  }
}

// No bit depends on the number of threads, which have heads of one sample, of
// several, or nothing to do: parts begin inside of samples and of groups of
// queries.
TEST_P(Attention, ThreadsChangeNoBit) {
  for (MtcDtype dtype : {MTC_F32, MTC_BF16}) {
    for (Sizes sizes : {Sizes{2, 70, 3, 3, 16, true, 0.3, dtype},
                        {2, 70, 6, 2, 20, true, 0.1, dtype},
                        {1, 130, 4, 1, 64, true, 0.0, dtype},
                        {1, 70, 1, 1, 16, false, 0.2, dtype},
                        {3, 7, 5, 5, 4, false, 0.0, dtype}})
      expectSameOnThreads(Problem(sizes, Layout::dense));
    expectSameOnThreads(
        Problem({2, 70, 3, 3, 20, true, 0.1, dtype}, Layout::fused));
    Problem documents({3, 130, 4, 2, 20, true, 0.2, dtype}, Layout::padded);
    documents.documents = documentsOf(3, 130, 40);
    expectSameOnThreads(documents);
  }
  Problem whole({1, 264, 3, 3, 16, true, 0.3}, Layout::dense);
  whole.documents = documentsOf(1, 264, 90);
  for (int64_t rank : {0, 1})
    expectSameOnThreads(twoPieces(whole, 2, rank));
}

TEST_P(Attention, NonFiniteInputsShow) {
  Problem p({1, 70, 1, 1, 16, true, 0.0}, Layout::dense);
  p.qkv[size_t(p.qAt + 3 * 16)] = NAN; // query 3
  for (MtcDtype dtype : {MTC_F32, MTC_BF16, MTC_F16}) {
    p.shape.dtype = dtype;
    p.forward();
    for (int64_t t = 0; t < 70; ++t)
      EXPECT_EQ(std::isnan(p.out[size_t(t * 16)]), t == 3) << t;
  }
}

// What is not finite in a key shows in the queries that read its tile, and in
// none of another range, though a block of rows ends in that range's first
// ones.
TEST_P(Attention, NonFiniteKeysStayInTheirRange) {
  for (MtcDtype dtype : {MTC_F32, MTC_BF16}) {
    Problem whole({1, 204, 1, 1, 16, true, 0.0, dtype}, Layout::dense);
    whole.documents.assign(204, 0);
    for (size_t i = 102; i < 204; ++i)
      whole.documents[i] = 102;
    whole.qkv[size_t(whole.kAt + 17 * 16)] = INFINITY;
    Problem part = twoPieces(whole, 2, 0); // [0, 51), [153, 204)
    part.forward();
    part.backward();
    for (int64_t i = part.shape.first * 16; i < part.shape.seq * 16; ++i)
      EXPECT_TRUE(std::isfinite(part.dqkv[size_t(part.qAt + i)])) << i;
  }
}

// Scores far apart: exp must underflow quietly, the maximum be subtracted.
TEST_P(Attention, LargeScores) {
  Problem p({1, 100, 1, 1, 16, true, 0.0}, Layout::dense);
  p.shape.scale = 100;
  p.forward();
  p.backward();
  Reference r = reference(p);
  // A score of about 1000 has an absolute error of 2e-4, which is the relative
  // error of its probability.
  EXPECT_LT(relativeError({p.out.begin(), p.out.end()}, r.out), 1e-3);
  for (float x : p.dqkv)
    EXPECT_TRUE(std::isfinite(x));
}

INSTANTIATE_TEST_SUITE_P(Isa, Attention,
                         testing::Values("x86-64-v3", "x86-64-v4",
                                         "x86-64-v4-bf16", "x86-64-v4-amx"),
                         [](const auto &info) {
                           std::string name(info.param + 7);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(AttentionCalls, ScratchIsNoMatrixOfScores) {
  // Beside its scratch the kernel has no memory: a test of whole programs
  // counts allocations. Copies of one head, 8·seq·head_dim: linear, so it falls
  // below the matrix from 8·head_dim positions on.
  auto scratch = [](int64_t seq) {
    MtcAttention d{};
    d.batch = 2;
    d.heads = d.kv_heads = 4;
    d.seq = d.keys = d.first = seq;
    d.head_dim = 64;
    return mtc_attention_scratch(&d, 1);
  };
  for (int64_t seq : {1024, 4096}) {
    EXPECT_GT(scratch(seq), 0);
    EXPECT_LT(scratch(seq), int64_t(sizeof(float)) * seq * seq) << seq;
    EXPECT_LE(scratch(4 * seq), 4 * scratch(seq)) << seq;
  }
}

// Each thread that has a head has scratch of its own; those without have none.
TEST(AttentionCalls, ScratchIsOfEachThread) {
  Problem p({2, 100, 3, 1, 20, true, 0.0}, Layout::dense);
  auto scratch = [&](int32_t threads) {
    return mtc_attention_scratch(&p.shape, threads);
  };
  int64_t thread = scratch(2) - scratch(1);
  EXPECT_GT(thread, scratch(1) / 2);
  EXPECT_EQ(scratch(0), scratch(1));
  EXPECT_EQ(scratch(6), scratch(1) + 5 * thread);
  EXPECT_EQ(scratch(64), scratch(6));
}

TEST(AttentionCalls, StopAfterAnError) {
  Problem p({1, 7, 1, 1, 4, true, 0.0}, Layout::dense);
  MtcContext ctx{};
  ctx.status = int(runtime::StatusCode::peerDied);
  mtc_attention_forward(&ctx, &p.shape, nullptr, nullptr, nullptr, nullptr,
                        nullptr, nullptr, nullptr, 0, 0, 0, 7);
  EXPECT_EQ(ctx.status, int(runtime::StatusCode::peerDied));
}

TEST(AttentionCalls, UnknownType) {
  Problem p({1, 7, 1, 1, 4, true, 0.0}, Layout::dense);
  p.shape.dtype = MTC_I32;
  MtcContext ctx{};
  mtc_attention_forward(&ctx, &p.shape, nullptr, nullptr, nullptr, nullptr,
                        nullptr, nullptr, nullptr, 0, 0, 0, 7);
  EXPECT_EQ(ctx.status, int(runtime::StatusCode::usage));
}

TEST(AttentionCalls, UnknownInstructionSet) {
  runtime::Status status = runtime::mtc_kernels_select_isa("x86-64-v9");
  EXPECT_EQ(status.code(), runtime::StatusCode::usage);
  EXPECT_NE(status.message().find("x86-64-v4-bf16, x86-64-v4 or x86-64-v3"),
            std::string::npos);
}

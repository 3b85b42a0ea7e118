// Products by oneDNN: what a call allocates, and which kernels compute it.
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/isa.h"
#include "runtime/kernels/cpu/onednn_calls.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <new>
#include <vector>

using namespace mtc::runtime;

/// Bytes that were asked for so far: by posix_memalign, which oneDNN calls for
/// what it computes in, and by operator new, which it calls for lists.
static std::atomic<int64_t> allocated = 0;

/// Inlined, they show GCC a `free` of what `new` made, and it takes that for a
/// mismatch.
[[gnu::noinline]] void *operator new(size_t bytes) {
  allocated += int64_t(bytes);
  if (void *made = std::malloc(bytes))
    return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *made) noexcept { std::free(made); }
[[gnu::noinline]] void operator delete(void *made, size_t) noexcept {
  std::free(made);
}

extern "C" int posix_memalign(void **out, size_t alignment, size_t bytes) {
  allocated += int64_t(bytes);
  *out = std::aligned_alloc(alignment,
                            (bytes + alignment - 1) / alignment * alignment);
  return *out ? 0 : ENOMEM;
}

namespace {

/// The best of those that have a product of oneDNN's.
const std::string_view kBest =
    *std::find_if(std::begin(kIsas), std::end(kIsas), processorHas);

bool hasBf16() { return processorHas("x86-64-v4-bf16"); }

class GemmLibrary : public testing::Test {
protected:
  /// Without AVX-512 no plan has a product of oneDNN's:
  /// GemmDeathTest.TheLibraryHasNoKernelThatAllocates.
  void SetUp() override {
    if (!processorHas("x86-64-v4"))
      GTEST_SKIP() << "this CPU lacks AVX-512";
    ASSERT_TRUE(gemmSelectIsa(kBest).ok());
  }
};

/// A forward, gradients of an input and of a weight, of each type that oneDNN
/// has products of.
std::vector<GemmDesc> productsBy(GemmKernel kernel) {
  std::vector<GemmDesc> rows;
  for (auto [ab, c] : {std::array{MTC_F32, MTC_F32},
                       {MTC_BF16, MTC_BF16},
                       {MTC_BF16, MTC_F32},
                       {MTC_F16, MTC_F16}})
    for (int beta : {0, 1}) {
      if (ab == MTC_BF16 && !hasBf16())
        continue;
      rows.push_back({64, 576, 192, false, false, beta, ab, c, kernel});
      rows.push_back({64, 192, 576, false, true, beta, ab, c, kernel});
      rows.push_back({192, 576, 64, true, false, beta, ab, c, kernel});
    }
  return rows;
}

/// Memory whose begin is aligned as arenas are, and bytes behind it that nobody
/// may write.
struct Buffer {
  explicit Buffer(int64_t bytes)
      : memory(static_cast<char *>(
            std::aligned_alloc(64, size_t(bytes + 63) / 64 * 64 + kGuard))),
        bytes(bytes) {
    std::fill_n(memory, bytes, char(0));
    std::fill_n(memory + bytes, kGuard, kUntouched);
  }
  Buffer(const Buffer &) = delete;
  ~Buffer() { std::free(memory); }
  bool isIntact() const {
    return std::all_of(memory + bytes, memory + bytes + kGuard,
                       [](char byte) { return byte == kUntouched; });
  }
  static constexpr int64_t kGuard = 4096;
  static constexpr char kUntouched = 0x5a;
  char *memory;
  int64_t bytes;
};

std::vector<std::string> namesOf(const GemmDesc &desc) {
  std::vector<std::string> names;
  for (const OneDnnCall &call : oneDnnCalls(desc).calls)
    names.push_back(call.name);
  return names;
}

} // namespace

// What oneDNN asks for in a call is some lists of its own, whatever the size;
// the smallest operand here has 24 KiB.
TEST_F(GemmLibrary, ACallAllocatesNothingOfAProductsSizeAndKeepsToItsScratch) {
  for (GemmKernel kernel : {GemmKernel::library, GemmKernel::innerProduct})
    for (int threads : {1, 2, 3}) {
      const std::vector<GemmDesc> rows = productsBy(kernel);
      GemmSet set;
      Status status = set.create(rows, threads);
      ASSERT_TRUE(status.ok()) << status.message();
      for (size_t i = 0; i < rows.size(); ++i) {
        Buffer a(4 * rows[i].m * rows[i].k), b(4 * rows[i].k * rows[i].n),
            c((rows[i].c == MTC_F32 ? 4 : 2) * rows[i].m * rows[i].n),
            scratch(set.scratchBytes(int64_t(i)));
        int64_t before = 0;
        for (int call = 0; call < 2; ++call) {
          before = allocated;
          ASSERT_TRUE(set.execute(int64_t(i), a.memory, b.memory, c.memory,
                                  scratch.memory)
                          .ok());
        }
        EXPECT_TRUE(c.isIntact() && scratch.isIntact()) << "row " << i;
        EXPECT_LE(allocated - before, 1024)
            << "row " << i << ", " << threads << " threads, kernel "
            << int(kernel);
      }
    }
}

// So that the test above can fail: with weights as they lie inner_product is
// another kernel, and that allocates copies of operands.
TEST_F(GemmLibrary, AKernelThatAllocatesIsSeen) {
  using dnnl::memory;
  using Tag = memory::format_tag;
  auto matrix = [](int64_t rows, int64_t columns, Tag tag) {
    return memory::desc({rows, columns}, memory::data_type::f32, tag);
  };
  const dnnl::engine engine = oneDnnEngine();
  dnnl::inner_product_forward::primitive_desc plain(
      {dnnl::prop_kind::forward_inference, matrix(64, 192, Tag::ab),
       matrix(576, 192, Tag::ba), matrix(64, 576, Tag::ab)},
      engine);
  EXPECT_EQ(std::string(plain.impl_info_str()), "x64:gemm:jit");
  memory a(plain.src_desc(), engine), b(plain.weights_desc(), engine),
      c(plain.dst_desc(), engine);
  for (const memory &operand : {a, b, c})
    std::memset(operand.get_data_handle(), 0, operand.get_desc().get_size());
  dnnl::stream stream(engine);
  int64_t before = 0;
  for (int call = 0; call < 2; ++call) {
    before = allocated;
    dnnl::inner_product_forward(plain).execute(
        stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream.wait();
  }
  EXPECT_GT(allocated - before, 16'384);
}

// Its weights are reordered in front of a forward, and behind a backward.
TEST_F(GemmLibrary, InnerProductIsForwardOrBackwardByWeights) {
  using Names = std::vector<std::string>;
  const GemmKernel inner = GemmKernel::innerProduct;
  for (MtcDtype type : {MTC_F32, MTC_BF16}) {
    if (type == MTC_BF16 && !hasBf16())
      continue;
    const std::string isa = type == MTC_F32            ? "avx512_core"
                            : kBest == "x86-64-v4-amx" ? "avx512_core_amx_bf16"
                                                       : "avx512_core_bf16";
    for (bool tb : {false, true})
      EXPECT_EQ(namesOf({64, 576, 192, false, tb, 0, type, type, inner}),
                (Names{"jit:uni", "brgemm:" + isa}));
    EXPECT_EQ(namesOf({192, 576, 64, true, false, 1, type, MTC_F32, inner}),
              (Names{"brgemm_bwd_w:" + isa, "jit:uni"}));
  }
  // And matmul is one call.
  EXPECT_EQ(namesOf({64, 576, 192}).size(), 1u);
}

// A call that oneDNN makes by another kernel makes all of them no plan's.
TEST_F(GemmLibrary, OneKernelThatAllocatesIsEnough) {
  const GemmDesc desc{64,      576,     192,
                      false,   false,   0,
                      MTC_F32, MTC_F32, GemmKernel::innerProduct};
  OneDnnCalls calls = oneDnnCalls(desc);
  ASSERT_TRUE(isAllPlanned(calls));
  EXPECT_TRUE(isPlannedByLibrary(desc, 1));
  for (size_t i = 0; i < calls.calls.size(); ++i)
    for (const char *name : {"x64:gemm:jit", "simple:any", "ref:any"}) {
      OneDnnCalls other = calls;
      other.calls[i].name = name;
      EXPECT_FALSE(isAllPlanned(other)) << i << name;
    }
  // Compiled code is enough for a reorder alone.
  calls.calls[1].name = "jit:uni";
  EXPECT_FALSE(isAllPlanned(calls));
  // Of both operands transposed it has no backward by weights.
  EXPECT_FALSE(isPlannedByLibrary(
      {64, 64, 64, true, true, 0, MTC_F32, MTC_F32, GemmKernel::innerProduct},
      1));
}

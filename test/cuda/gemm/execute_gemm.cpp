//===- execute_gemm.cpp - GEMM kernels on the PTX executor ----------------===//
//
//   execute_gemm FOLDER SEED [OPTION OF GTEST...]
//
// runs FOLDER/gemm_TYPE.ptx, blocks and warps in an order that SEED chooses,
// and compares with double precision. Gaps between stored rows have no values,
// so a kernel that reads them ends with a fault.
//
//===----------------------------------------------------------------------===//
#include "gemm_case.h"

#include "runtime/cuda/gemm/gemm_params.h"
#include "test/cuda/common/executor_device.h"
#include "test/cuda/common/module_files.h"

#include <bit>
#include <cmath>
#include <random>

using namespace mtc;
using namespace mtc::test;

namespace {

ModuleFiles *modules = nullptr;
uint64_t seed = 0;

const char *typeOf(MtcDtype dtype) {
  return dtype == MTC_F32 ? "f32" : dtype == MTC_BF16 ? "bf16" : "f16";
}

const ptx::Module *moduleOf(MtcDtype dtype) {
  return modules->find(std::string("gemm_") + typeOf(dtype) + ".ptx");
}

class Multiplication {
public:
  Multiplication(const ptx::Module &module, const GemmCase &c,
                 const GemmData &data, uint64_t seed)
      : device(module, seed), c(c), data(data) {}

  void run() {
    cuda::GemmParams p{};
    p.a = pointer(place(data.a, "a", true));
    p.b = pointer(place(data.b, "b", true));
    at = place(data.c, "c", c.beta);
    p.c = pointer(at);
    p.lda = data.a.stride;
    p.ldb = data.b.stride;
    p.ldc = data.c.stride;
    p.m = c.m;
    p.n = c.n;
    p.k = c.k;
    p.beta = c.beta;
    if (c.bias)
      p.bias = pointer(place(data.bias, "bias", true));
    if (c.aux)
      p.aux = pointer(auxAt = place(data.c, "aux", false));
    p.ldaux = data.c.stride;
    p.gelu = c.gelu;
    p.wide = c.c == MTC_F32 && c.ab != MTC_F32;
    cuda::GemmTile tile = c.ab == MTC_F32 ? cuda::kFloatTile : cuda::kHalfTile;
    device.run(cuda::gemmEntry(typeOf(c.ab), c.ta, c.tb),
               {uint32_t(cuda::gemmBlocks(tile, c.m, c.n)), 1, 1},
               uint32_t(tile.threads), p);
  }

  Stored result() { return read(at); }
  Stored aux() { return read(auxAt); }

private:
  /// c or aux, gaps included, which must not have been written.
  Stored read(ptx::Address at) {
    Stored found = data.c;
    found.bytes = device.read<std::byte>(at, found.bytes.size());
    for (int row = 0; row < c.m; ++row) {
      size_t begin = found.at(row, 0), end = found.at(row, c.n - 1);
      end += found.width();
      EXPECT_TRUE(device.isWritten(at + begin, end - begin));
      size_t gap = row + 1 < c.m ? found.gapBytes() : 0;
      EXPECT_TRUE(gap == 0 || device.isWritten(at + end, gap, false))
          << "something is written behind row " << row;
    }
    return found;
  }

  static void *pointer(ptx::Address address) {
    return std::bit_cast<void *>(address);
  }

  ptx::Address place(const Stored &m, const char *name, bool hasValues) {
    size_t skipped = size_t(c.skipped) * m.width();
    if (!hasValues)
      return device.space(m.bytes.size(), name, skipped);
    ptx::Address base =
        device.place(std::span<const std::byte>(m.bytes), name, skipped);
    for (int row = 0; m.gapBytes() != 0 && row + 1 < m.rows; ++row)
      device.forget(base + m.at(row, m.columns), m.gapBytes());
    return base;
  }

  ExecutorDevice device;
  const GemmCase &c;
  const GemmData &data;
  ptx::Address at = 0, auxAt = 0;
};

/// The worst error over its bound.
double compare(const GemmCase &c, const GemmExpected &expected,
               const Stored &found, const char *what) {
  double worst = 0;
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      size_t at = size_t(i) * c.n + j;
      double error = std::fabs(found.get(i, j) - expected.value[at]);
      double ratio = error == 0 ? 0 : error / expected.bound[at];
      if (!(ratio <= 1)) {
        ADD_FAILURE() << what << "[" << i << ", " << j << "]: expected "
                      << expected.value[at] << " within " << expected.bound[at]
                      << ", found " << found.get(i, j);
        return ratio;
      }
      worst = std::max(worst, ratio);
    }
  return worst;
}

double check(const GemmCase &c) {
  SCOPED_TRACE(c.name());
  const ptx::Module *module = moduleOf(c.ab);
  if (!module) {
    ADD_FAILURE() << "there are no kernels of " << typeOf(c.ab);
    return 0;
  }
  GemmData data(c);
  Multiplication one(*module, c, data, seed), other(*module, c, data, seed + 1);
  one.run();
  if (testing::Test::HasFailure())
    return 0;
  Stored found = one.result();
  if (c.fill == Fill::normal) {
    other.run();
    EXPECT_EQ(other.result().bytes, found.bytes) << "in another order";
  }
  GemmResults expected = reference(c, data);
  double worst = compare(c, expected.c, found, "c");
  return c.aux ? std::max(worst, compare(c, expected.aux, one.aux(), "aux"))
               : worst;
}

struct Types {
  MtcDtype ab, c;
};
constexpr Types kTypes[] = {{MTC_F32, MTC_F32},
                            {MTC_BF16, MTC_BF16},
                            {MTC_BF16, MTC_F32},
                            {MTC_F16, MTC_F16},
                            {MTC_F16, MTC_F32}};

class Gemm : public testing::TestWithParam<Types> {
protected:
  /// Runs a shape in all layouts, of which every second one adds to c.
  void shape(int m, int n, int k, GemmCase c = {}) {
    for (int layout = 0; layout < 4 && !HasFailure(); ++layout) {
      c.ab = GetParam().ab;
      c.c = GetParam().c;
      c.ta = layout & 2;
      c.tb = layout & 1;
      c.beta = !c.bias && !c.gelu && (layout + m + n + k) % 2 != 0;
      c.m = m;
      c.n = n;
      c.k = k;
      worst = std::max(worst, check(c));
    }
  }
  double worst = 0;
};

TEST_P(Gemm, OfWholeTiles) { shape(128, 128, 64); }

TEST_P(Gemm, OfSmallMatrices) {
  shape(1, 1, 1);
  shape(1, 2, 1);
  shape(3, 5, 7, {.skipped = 1});
  shape(2, 9, 33, {.gap = 3});
  shape(8, 8, 0);
  shape(7, 1, 0);
}

TEST_P(Gemm, OfAlignedRowsThatEndWithinAChunk) {
  for (int i = 0; i < 8; ++i)
    shape(25 + i, 17 + i * 3 % 8, 33 + i * 5 % 8, {.gap = i % 3, .unit = 8});
}

TEST_P(Gemm, OfUnalignedPointersAndRows) {
  for (int i = 0; i < 8; ++i)
    shape(9 + i, 17 + i * 3 % 8, 33 + i * 5 % 8,
          {.gap = i % 2, .skipped = 1 + i / 4});
  // Rows at multiples of 16 bytes, if it were not for the first.
  shape(30, 20, 40, {.unit = 8, .skipped = 1});
}

TEST_P(Gemm, OverEdgesOfTiles) {
  shape(129, 130, 33);
  shape(130, 65, 17, {.gap = 7, .skipped = 5});
  shape(127, 128, 64);
}

TEST_P(Gemm, WritesNothingBehindItsRows) {
  // Each thread of f32 has eight rows and four columns: edges at each of them.
  for (int i = 0; i < 8; ++i)
    shape(8 + 16 * i, 12 + i % 4 * 16, 5, {.gap = 3});
}

TEST_P(Gemm, StaysWithinItsBound) {
  shape(20, 40, 200, {.fill = Fill::normal});
  std::cout << worst << " of the bound\n";
}

TEST_P(Gemm, AddsABiasToItsColumns) {
  shape(3, 5, 7, {.skipped = 1, .bias = true});
  shape(130, 133, 5, {.gap = 3, .bias = true});
}

TEST_P(Gemm, StoresItsGelu) {
  shape(9, 21, 3, {.gelu = true});
  shape(20, 40, 200, {.fill = Fill::normal, .gelu = true});
  shape(20, 40, 2, {.fill = Fill::normal, .bias = true, .gelu = true});
  std::cout << worst << " of the bound\n";
}

TEST_P(Gemm, KeepsWhatItsGeluIsOf) {
  shape(130, 72, 9, {.gap = 5, .bias = true, .gelu = true, .aux = true});
  shape(20, 40, 4,
        {.skipped = 3, .fill = Fill::normal, .gelu = true, .aux = true});
}

TEST_P(Gemm, HasATilePerBlock) {
  // More rows of tiles than a group has.
  shape(128 * 8 + 1, 129, 1);
}

INSTANTIATE_TEST_SUITE_P(All, Gemm, testing::ValuesIn(kTypes), [](auto &info) {
  return std::string(typeOf(info.param.ab)) + "_" + typeOf(info.param.c);
});

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3) {
    std::cerr << "usage: execute_gemm FOLDER SEED\n";
    return 2;
  }
  // Every sum of floats says how it is rounded.
  ptx::Rules rules{true, true, true};
  ModuleFiles files(argv[1], rules);
  modules = &files;
  seed = std::stoull(argv[2]);
  return RUN_ALL_TESTS();
}

// Tables of products of CPUs: what is read, what is not, and what is chosen.
#include "mtc/runtime/cpu_gemm_table.h"
#include "runtime/device/cpu/gemm_tuner.h"
#include "runtime/kernels/cpu/gemm_own.h"
#include "test/unit/runtime/temporary_folder.h"

#include <gtest/gtest.h>

#include <utility>

using namespace mtc::runtime;
using mtc::runtime::test::TemporaryFolder;

namespace {

CpuGemmTable aTable() {
  CpuGemmTable table{
      "a processor", "x86-64-v4", "2.6.3 (x)", kOwnGemmVersion, {}};
  table.rows[{8, 16, 32, false, true, false, MTC_F32, MTC_F32, 2}] = {
      GemmKernel::library, 12.5, 7.0, 8.0, PackedTimes{11.0, 9.0}};
  table.rows[{8, 16, 4, true, false, true, MTC_BF16, MTC_F32, 1}] = {
      GemmKernel::own, 3.0, std::nullopt, std::nullopt, std::nullopt};
  return table;
}

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

/// What is said of a file with this text.
std::string problemOf(const std::string &text) {
  TemporaryFolder folder;
  std::string file = folder.path("t.json");
  test::writeFile(file, text);
  CpuGemmTable table;
  Status status = readCpuGemmTable(file, table);
  EXPECT_EQ(status.code(), StatusCode::inputRejected) << status.message();
  return status.message();
}

} // namespace

TEST(CpuGemmTable, IsReadAsItWasWritten) {
  TemporaryFolder folder;
  std::string text = cpuGemmTableText(aTable());
  test::writeFile(folder.path("t.json"), text);
  CpuGemmTable read;
  Status status = readCpuGemmTable(folder.path("t.json"), read);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(cpuGemmTableText(read), text);
  EXPECT_EQ(read.processor, "a processor");
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_EQ(describe(read.rows.begin()->first),
            "8 x 16 x 4, a transposed, added, bf16 into f32, 1 thread");
  EXPECT_EQ(read.rows.rbegin()->second.kernel, GemmKernel::library);
  EXPECT_EQ(read.rows.rbegin()->second.libraryMicroseconds, 7.0);
  EXPECT_EQ(read.rows.rbegin()->second.innerMicroseconds, 8.0);
  EXPECT_EQ(read.rows.begin()->second.libraryMicroseconds, std::nullopt);
  EXPECT_EQ(read.rows.begin()->second.innerMicroseconds, std::nullopt);
  ASSERT_TRUE(read.rows.rbegin()->second.packed);
  EXPECT_EQ(read.rows.rbegin()->second.packed->product, 11.0);
  EXPECT_EQ(read.rows.rbegin()->second.packed->pack, 9.0);
  EXPECT_FALSE(read.rows.begin()->second.packed);
}

// As tables of before do, of packing and of inner_product.
TEST(CpuGemmTable, MayLackTimesThatWereNotMeasured) {
  TemporaryFolder folder;
  std::string text = replaced(cpuGemmTableText(aTable()),
                              ",\n   \"inner_product_us\": 8.0,\n   "
                              "\"packed_us\": 11.0,\n   \"pack_us\": 9.0",
                              "");
  test::writeFile(folder.path("t.json"), text);
  CpuGemmTable read;
  Status status = readCpuGemmTable(folder.path("t.json"), read);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(read.rows.rbegin()->second.packed);
  EXPECT_FALSE(read.rows.rbegin()->second.innerMicroseconds);
}

TEST(CpuGemmTable, NamesInnerProduct) {
  TemporaryFolder folder;
  CpuGemmTable table = aTable();
  table.rows.rbegin()->second.kernel = GemmKernel::innerProduct;
  test::writeFile(folder.path("t.json"), cpuGemmTableText(table));
  CpuGemmTable read;
  Status status = readCpuGemmTable(folder.path("t.json"), read);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read.rows.rbegin()->second.kernel, GemmKernel::innerProduct);
}

TEST(CpuGemmTable, SaysWhatIsWrongWithAFile) {
  const std::string text = cpuGemmTableText(aTable());
  const std::pair<std::pair<const char *, const char *>, const char *>
      faults[] = {
          {{"\"cpu_gemm_table\": 1", "\"cpu_gemm_table\": 7"},
           "expected a table of form 1, which this version of mtc reads, found "
           "form 7"},
          {{"\"cpu_gemm_table\"", "\"gemm_table\""},
           "expected a table of products of CPUs, found one of GPUs"},
          {{"\"cpu_gemm_table\"", "\"a_table\""},
           "expected a table of products of CPUs, as `mtc tune` writes it"},
          {{"\"own\"", "\"mkl\""},
           "products[0]: 'kernel': expected one of own, onednn, inner_product; "
           "found 'mkl'"},
          {{"\"own\"", "\"onednn\""},
           "expected own where oneDNN has no such product (onednn_us), found "
           "onednn"},
          {{"\"own\"", "\"inner_product\""},
           "expected own where oneDNN has no such product (inner_product_us), "
           "found inner_product"},
          {{"\"k\": 4", "\"k\": 0"}, "products[0]: 'k': expected 1 to"},
          {{"\"bf16\"", "\"i8\""},
           "products[0]: 'type': expected one of f32, bf16, fp16; found 'i8'"},
          {{"\"onednn_us\": 7.0", "\"onednn_us\": -1"},
           "products[1]: 'onednn_us': expected at least 0, found -1"},
          {{"\"own_us\": 3.0", "\"own_us\": null"},
           "products[0]: 'own_us': expected a number, found null"},
          {{"\"packed_us\": 11.0", "\"packed_us\": null"},
           "products[1]: expected packed_us and pack_us, or neither, found "
           "pack_us alone"},
          {{",\n   \"pack_us\": 9.0", ""},
           "products[1]: expected packed_us and pack_us, or neither, found "
           "packed_us alone"},
          {{"\"pack_us\": 9.0", "\"pack_us\": -2"},
           "products[1]: 'pack_us': expected at least 0, found -2"},
          {{"\"threads\": 1", "\"threads\": \"1\""},
           "products[0]: 'threads': expected an integer"},
          {{"\"threads\": 1", "\"threads\": 1, \"stride\": 8"},
           "products[0]: unknown key 'stride', expected one of: m, n, k, "},
          {{"\"isa\"", "\"cores\": 2, \"isa\""},
           "unknown key 'cores', expected one of: cpu_gemm_table, processor"},
          {{"\"isa\": \"x86-64-v4\",", ""}, "isa"}};
  for (const auto &[edit, expected] : faults)
    EXPECT_NE(problemOf(replaced(text, edit.first, edit.second)).find(expected),
              std::string::npos)
        << edit.second << ": "
        << problemOf(replaced(text, edit.first, edit.second));
  EXPECT_NE(problemOf(text.substr(0, 100)).find("t.json"), std::string::npos);
  EXPECT_NE(problemOf("[1]").find("expected a table"), std::string::npos);
}

TEST(CpuGemmTable, HasEachProductOnce) {
  std::string text = cpuGemmTableText(aTable());
  size_t begin = text.find("  {"), end = text.find("  },") + 4;
  text.insert(begin, text.substr(begin, end - begin) + "\n");
  EXPECT_NE(problemOf(text).find(
                "products[1]: expected each product once, found one again"),
            std::string::npos)
      << problemOf(text);
}

TEST(CpuGemmTable, IsForOneInstructionSetAndLibrary) {
  CpuGemmTable table = aTable();
  EXPECT_TRUE(table.check("t", "x86-64-v4", "2.6.3 (x)").ok());
  EXPECT_EQ(table.check("t", "x86-64-v3", "2.6.3 (x)").code(),
            StatusCode::usage);
  const std::string own = std::to_string(kOwnGemmVersion);
  EXPECT_EQ(table.check("t", "x86-64-v4", "3.0 (x)").message(),
            "t: expected a table for x86-64-v4, oneDNN 3.0 (x) and our "
            "kernels' version " +
                own +
                ", found one for x86-64-v4, oneDNN 2.6.3 (x) and version " +
                own + "; make one by `mtc tune` of a bundle for x86-64-v4");
  table.own = kOwnGemmVersion + 1;
  EXPECT_FALSE(table.check("t", "x86-64-v4", "2.6.3 (x)").ok());
}

TEST(FastestKernel, IsOwnUnlessTheLibraryIsClearlyFaster) {
  EXPECT_EQ(fastestKernel({100, 90, 500}, {98.5, 1, 495}).kernel,
            GemmKernel::own);
  TunedProduct clearly = fastestKernel({100, 90, 500}, {97.5, 60, 400});
  EXPECT_EQ(clearly.kernel, GemmKernel::library);
  EXPECT_EQ(clearly.ownMicroseconds, 100);
  EXPECT_EQ(clearly.libraryMicroseconds, 97.5);
  // Two of three rounds are faster, what is written is not.
  EXPECT_EQ(fastestKernel({100, 90, 500}, {97.5, 120, 400}).kernel,
            GemmKernel::own);
  // Nor does a table say so of times that are less than its last digit apart.
  EXPECT_EQ(fastestKernel({1.04}, {0.96}).kernel, GemmKernel::own);
  // A slow time of the machine is in both of a round.
  EXPECT_EQ(fastestKernel({200, 200, 100}, {205, 103, 103}).kernel,
            GemmKernel::own);
  // Of oneDNN's two the one that is faster than the other and than ours.
  TunedProduct inner = fastestKernel({100}, {97}, {90});
  EXPECT_EQ(inner.kernel, GemmKernel::innerProduct);
  EXPECT_EQ(inner.libraryMicroseconds, 97);
  EXPECT_EQ(inner.innerMicroseconds, 90);
  EXPECT_EQ(fastestKernel({100}, {90}, {97}).kernel, GemmKernel::library);
  EXPECT_EQ(fastestKernel({100}, {90}, {90}).kernel, GemmKernel::library);
  EXPECT_EQ(fastestKernel({100}, {120}, {99}).kernel, GemmKernel::own);
  EXPECT_EQ(fastestKernel({100}, {}, {90}).kernel, GemmKernel::innerProduct);
  TunedProduct alone = fastestKernel({3}, {});
  EXPECT_EQ(alone.kernel, GemmKernel::own);
  EXPECT_EQ(alone.libraryMicroseconds, std::nullopt);
}

TEST(PackingPays, WhereAStepTakesClearlyLessTime) {
  TunedProduct tuned{GemmKernel::library, 100, 80, 70, PackedTimes{60, 195}};
  // 495 and 500 are not far enough apart, 555 and 600 are.
  EXPECT_EQ(tuned.packingPays(5, GemmKernel::own), false);
  EXPECT_EQ(tuned.packingPays(6, GemmKernel::own), true);
  // Nor are 795 and 800.
  EXPECT_EQ(tuned.packingPays(10, GemmKernel::library), false);
  EXPECT_EQ(tuned.packingPays(11, GemmKernel::library), true);
  // And 23 products of 68.6 take 1577.8, packed ones 1575.
  EXPECT_EQ(tuned.packingPays(22, GemmKernel::innerProduct), false);
  EXPECT_EQ(tuned.packingPays(23, GemmKernel::innerProduct), true);
  tuned.packed->product = 98;
  EXPECT_EQ(tuned.packingPays(1 << 20, GemmKernel::own), false);
  tuned.packed = std::nullopt;
  EXPECT_EQ(tuned.packingPays(1 << 20, GemmKernel::own), std::nullopt);
}

TEST(RoundLength, IsOneNumberOfCallsByTheLeastTimes) {
  RoundLength length;
  length.add(0, 24'000);
  EXPECT_EQ(length.calls(), 1);
  length.add(1, 5);
  EXPECT_EQ(length.calls(), 1); // both are called as often
  length.add(0, 12.5);          // the first was disturbed
  EXPECT_EQ(length.calls(), 800);
  length.add(0, 30'000);
  length.add(1, 20);
  EXPECT_EQ(length.calls(), 800);
  RoundLength shorter(2'500);
  shorter.add(0, 12.5);
  EXPECT_EQ(shorter.calls(), 200);
}

TEST(TuneRows, AreProductsEachOnceWithTheKernelThatPlansHave) {
  GemmInfo forward{8, 16, 32, false, false, false, MTC_F32, MTC_F32, 64};
  GemmInfo added{4, 16, 8, true, false, true, MTC_F32, MTC_F32, 64};
  GemmInfo stored = added;
  stored.beta = false;
  TuneRows rows;
  addTuneRows(std::vector{forward, added, stored, forward}, 2, rows);
  addTuneRows(std::vector{forward}, 2, rows);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.at(productOf(forward, 2)), GemmKernel::own);
  EXPECT_EQ(rows.at(productOf(added, 2)), GemmKernel::own);
  // It is stored in the first microbatch only: past the caches.
  EXPECT_EQ(rows.at(productOf(stored, 2)), GemmKernel::ownStreamed);
  // What a plan stores in caches, too, is measured like that.
  stored.kernel = GemmKernel::own;
  addTuneRows(std::vector{stored}, 2, rows);
  EXPECT_EQ(rows.at(productOf(stored, 2)), GemmKernel::own);
  addTuneRows(std::vector{forward}, 1, rows);
  EXPECT_EQ(rows.size(), 4u);
  // Of a plan that packs, the product without packing is measured.
  forward.kernel = GemmKernel::ownPacked;
  addTuneRows(std::vector{forward}, 4, rows);
  EXPECT_EQ(rows.at(productOf(forward, 4)), GemmKernel::own);
  // And of one by oneDNN's inner_product; where that adds it is a gradient of
  // a weight, which is stored past the caches.
  for (GemmInfo *row : {&forward, &added, &stored})
    row->kernel = GemmKernel::innerProduct;
  addTuneRows(std::vector{forward, added, stored}, 8, rows);
  EXPECT_EQ(rows.at(productOf(forward, 8)), GemmKernel::own);
  EXPECT_EQ(rows.at(productOf(added, 8)), GemmKernel::own);
  EXPECT_EQ(rows.at(productOf(stored, 8)), GemmKernel::ownStreamed);
}

TEST(TuneCpuGemms, TimesEachProductByEachKernelThatAllocatesNothing) {
  GemmInfo row{8, 16, 32, false, false, false, MTC_F32, MTC_F32, 64};
  GemmInfo gradient{8, 16, 32, true, false, false, MTC_F32, MTC_F32, 64};
  GemmInfo added{8, 16, 32, false, false, true, MTC_F32, MTC_F32, 64};
  TuneRows rows;
  addTuneRows(std::vector{row, gradient, added}, 1, rows);
  // oneDNN's kernel for AVX2 allocates in calls. The other instruction sets are
  // for integration_tune: oneDNN takes one in a process.
  const char *isa = "x86-64-v3";
  CpuGemmTable table;
  int rounds = 0, told = 0;
  TuneListener listener = {
      [&](int) { ++rounds; },
      [&](const CpuProduct &, const TunedProduct &) { ++told; }};
  Status status = tuneCpuGemms(rows, isa, 2, listener, table);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(rounds, 2);
  EXPECT_EQ(told, 3);
  EXPECT_TRUE(table.check("t", isa, table.library).ok());
  const TunedProduct &tuned = table.rows.at(productOf(row, 1));
  EXPECT_GT(tuned.ownMicroseconds, 0);
  EXPECT_EQ(tuned.libraryMicroseconds, std::nullopt);
  EXPECT_EQ(tuned.innerMicroseconds, std::nullopt);
  ASSERT_TRUE(tuned.packed);
  EXPECT_GT(tuned.packed->product, 0);
  EXPECT_GT(tuned.packed->pack, 0);
  // What they multiply is no weight.
  EXPECT_FALSE(table.rows.at(productOf(gradient, 1)).packed);
  EXPECT_FALSE(table.rows.at(productOf(added, 1)).packed);
}

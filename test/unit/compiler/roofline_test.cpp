//===- roofline_test.cpp - what calls compute, move and take at least -----===//
//
// Figures are counted by hand from the IR in this file.
//
//===----------------------------------------------------------------------===//

#include "compiler/read_calls.h"
#include "compiler/roofline.h"
#include "compiler/run_phase.h"
#include "runtime/base/part_name.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace mtc::compiler {
namespace {

/// Bias and GELU's factor (3 operations of an element), its square summed over
/// the row (2), the sum's root (1 of a row), and a gradient that adds up rows
/// (1). Random words, conversions and choices are no operations.
constexpr const char *kProgram = R"(
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 2, cp = 1, dp = 4, pp = 1>, batch = <micro = 2, microbatches = 4, global = 32, sequence = 16>,
  precision = f32, schedule = <name = "gpipe", chunks = 1, layers_per_stage = [2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
rt.program @stage0 stage 0 {
  rt.kernel @rows rows 6 cols 10 args 0 [
      #rt.operand<mode = full, element = bf16, extent = 0>,
      #rt.operand<mode = col, element = f32, extent = 0>,
      #rt.operand<mode = row, element = f32, extent = 0>,
      #rt.operand<mode = full, element = bf16, extent = 0>,
      #rt.operand<mode = col, element = f32, extent = 0>,
      #rt.operand<mode = scalar, element = f32, extent = 0>] {
    %h = rt.load 0 : bf16
    %x = arith.extf %h : bf16 to f32
    %b = rt.load 1 : f32
    %s = arith.addf %x, %b : f32
    %l = rt.logistic %s : f32
    %g = arith.mulf %s, %l : f32
    %q = arith.mulf %g, %g : f32
    %sum = rt.row_reduce sum %q : f32
    %root = math.sqrt %sum : f32
    rt.store 2, %root : f32
    %scale = rt.load 5 : f32
    %is = arith.cmpf ogt, %g, %scale : f32
    %y = arith.select %is, %g, %scale : f32
    %r = arith.truncf %y : f32 to bf16
    rt.store 3, %r : bf16
    rt.accumulate 4, %y : f32
  }
  rt.kernel @tables rows 6 cols 10 args 0 [
      #rt.operand<mode = row, element = i32, extent = 0>,
      #rt.operand<mode = table, element = f32, extent = 100>,
      #rt.operand<mode = periodic, element = f32, extent = 3>,
      #rt.operand<mode = table, element = f32, extent = 2>] {
    %i = rt.load 0 : i32
    %e = rt.gather 1 at %i : f32
    %p = rt.load 2 : f32
    %f = math.fma %e, %p, %p : f32
    rt.scatter_add 3 at %i, %f : f32
  }
  rt.kernel @flat rows 1 cols -1 args 0 [
      #rt.operand<mode = full, element = f32, extent = 0>,
      #rt.operand<mode = full, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %y = arith.addf %x, %x : f32
    rt.accumulate 1, %y : f32
  }
  func.func @calls() {
    %x = rt.view workspace at 0 : memref<6x10xbf16>
    %f = rt.view workspace at 0 : memref<6x10xf32>
    %c = rt.view workspace at 0 : memref<10xf32>
    %r = rt.view workspace at 0 : memref<6xf32>
    %o = rt.view workspace at 0 : memref<1xf32>
    %i = rt.view workspace at 0 : memref<6xi32>
    %t = rt.view workspace at 0 : memref<100x10xf32>
    %p = rt.view workspace at 0 : memref<3x10xf32>
    %u = rt.view workspace at 0 : memref<2x10xf32>
    %flat = rt.view workspace at 0 : memref<1000xf32>
    rt.launch @rows(%x, %c, %r, %x, %c, %o) args() writes [2, 3, 4] : (memref<6x10xbf16>, memref<10xf32>, memref<6xf32>, memref<6x10xbf16>, memref<10xf32>, memref<1xf32>) -> ()
    rt.launch @tables(%i, %t, %p, %u) args() writes [3] : (memref<6xi32>, memref<100x10xf32>, memref<3x10xf32>, memref<2x10xf32>) -> ()
    %at, %local, %n = rt.flat_range start 0 count 600 shard 500 among <tp>
    rt.launch @flat(%flat, %flat) args(%n) writes [1] : (memref<1000xf32>, memref<1000xf32>) -> ()
    %a = rt.view workspace at 0 : memref<8x4xbf16>
    %b = rt.view workspace at 0 : memref<4x16xbf16>
    %d = rt.view workspace at 0 : memref<8x16xbf16>
    %w = rt.view workspace at 0 : memref<8x16xf32>
    rt.gemm %a, %b into %d m 8 n 16 k 4 {ta = false, tb = false, beta = false} : (memref<8x4xbf16>, memref<4x16xbf16>, memref<8x16xbf16>) -> ()
    rt.gemm %a, %b into %w m 8 n 16 k 4 {ta = false, tb = false, beta = true} : (memref<8x4xbf16>, memref<4x16xbf16>, memref<8x16xf32>) -> ()
    rt.gemm %a, %b into %w m 8 n 16 k 4 {ta = false, tb = false, beta = true, stores_first} : (memref<8x4xbf16>, memref<4x16xbf16>, memref<8x16xf32>) -> ()
    %bias = rt.view workspace at 0 : memref<16xbf16>
    rt.gemm %a, %b bias %bias into %d aux %d m 8 n 16 k 4 gelu {ta = false, tb = false, beta = false} : (memref<8x4xbf16>, memref<4x16xbf16>, memref<16xbf16>, memref<8x16xbf16>, memref<8x16xbf16>) -> ()
    rt.collective all_reduce %flat group tp count 1000 : (memref<1000xf32>) -> ()
    rt.collective reduce_scatter %flat group dp count 250 {stream = 1 : i64} : (memref<1000xf32>) -> ()
    rt.zero %flat : (memref<1000xf32>) -> ()
    rt.norm reset
    rt.norm accumulate of %flat : memref<1000xf32> length %n
    rt.collective all_reduce %flat group dp count 1000 : (memref<1000xf32>) -> ()
    %from, %shardFrom, %m = rt.flat_range start 0 count 600 among <tp>
    rt.norm accumulate of %flat : memref<1000xf32> length %m continues
    rt.collective reduce_scatter %flat group dp count 200 : (memref<1000xf32>) -> ()
    %own, %shardOwn, %k = rt.flat_range start 0 count 600 shard 200
    rt.norm accumulate of %flat : memref<1000xf32> length %k continues
    %qkv = rt.view workspace at 0 : memref<2x8x2x3x16xbf16>
    %out = rt.view workspace at 0 : memref<2x8x2x16xbf16>
    %lse = rt.view workspace at 0 : memref<2x2x8xf32>
    %zero = arith.constant 0 : i64
    rt.attention(%qkv) into (%out, %lse) at %zero, %zero {backward = false, causal = true, global_heads = 2 : i64, rate = 0.0 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (memref<2x8x2x3x16xbf16>, memref<2x8x2x16xbf16>, memref<2x2x8xf32>, i64, i64) -> ()
    rt.attention(%out, %out, %lse, %qkv) into (%qkv) at %zero, %zero {backward = true, causal = true, global_heads = 2 : i64, rate = 0.0 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (memref<2x8x2x16xbf16>, memref<2x8x2x16xbf16>, memref<2x2x8xf32>, memref<2x8x2x3x16xbf16>, memref<2x8x2x3x16xbf16>, i64, i64) -> ()
    return
  }
}
}
)";

/// On a mesh of tp 2 and dp 4.
class Calls : public testing::Test {
protected:
  void SetUp() override {
    context = makeContext();
    module = mlir::parseSourceString<mlir::ModuleOp>(kProgram, context.get());
    ASSERT_TRUE(module);
    Mesh mesh(2, 4, 1);
    module->walk([&](rt::WorkOpInterface op) {
      calls.push_back(readCall(op, op.getWork(mesh)));
    });
  }

  const PlanCalls &named(const std::string &name) const {
    static const PlanCalls none;
    for (const PlanCalls &each : calls)
      if (each.name == name)
        return each;
    ADD_FAILURE() << "no call " << name;
    return none;
  }

  void expect(const std::string &name, double flops, double bytes,
              double linkBytes = 0) const {
    SCOPED_TRACE(name);
    EXPECT_EQ(named(name).flops, flops);
    EXPECT_EQ(named(name).bytes, bytes);
    EXPECT_EQ(named(name).linkBytes, linkBytes);
  }

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<PlanCalls> calls;
};

TEST_F(Calls, KernelsByTheirBodiesAndOperands) {
  // Six operations of an element, the root of a row. Read x, b, the scale, the
  // sum of columns; written the root, y, that sum.
  expect("rows", 60 * 6 + 6, 120 + 40 + 4 + 40 + 24 + 120 + 40);
  // Six rows of the table are read, at most; of the other there are two, read
  // and written.
  expect("tables", 60 * 3, 24 + 240 + 120 + 2 * 80);
  // 600 elements over four replicas, of one of two ranks along tp: 75.
  expect("flat", 75 * 2, 75 * 4 * 3);
}

TEST_F(Calls, ProductsAndAttention) {
  expect("8x16x4 nn bf16", 1024, 64 + 128 + 256);
  expect("8x16x4 nn bf16 added to f32", 1024, 64 + 128 + 2 * 512);
  // Read by three microbatches of four.
  expect("8x16x4 nn bf16 stored, then added to f32", 1024,
         64 + 128 + 512 + 512 * 3 / 4.0);
  EXPECT_EQ(named("8x16x4 nn bf16").factors, "bf16");
  // The bias once, and what GELU is of as well as the GELU.
  expect("8x16x4 nn bf16 bias gelu aux", 1024, 64 + 128 + 32 + 2 * 256);
  // 4 · 2 samples · 2 heads · 8 · 8 · 16, half of it; 10 of it backward.
  double qkv = 2 * 8 * 2 * 3 * 16 * 2, out = qkv / 3, lse = 2 * 2 * 8 * 4;
  expect("forward 2x8 of 8x2x16 bf16 causal", 8192, qkv + out + lse);
  expect("backward 2x8 of 8x2x16 bf16 causal", 20480, 2 * out + lse + 2 * qkv);
  EXPECT_EQ(named("forward 2x8 of 8x2x16 bf16 causal").unmaskedFlops, 16384);
}

TEST_F(Calls, CollectivesZerosAndNorms) {
  expect("all_reduce tp 1000 f32", 0, 0, 2 * 4000 * 1 / 2.0);
  expect("reduce_scatter dp 250 f32", 0, 0, 4000 * 3 / 4.0);
  EXPECT_EQ(named("reduce_scatter dp 250 f32").stream, 1);
  expect("4000 bytes", 0, 4000);
  expect("reset", 0, 0);
  expect("accumulate", 150, 300);
}

// A cache has what a sum has made: of an all-reduce each rank a part, of a
// reduce-scatter its shard.
TEST_F(Calls, NormsThatContinueASum) {
  std::vector<std::pair<double, double>> found;
  for (const PlanCalls &each : calls)
    if (each.name == "accumulate")
      found.emplace_back(each.flops, each.bytes);
  EXPECT_EQ(found, (std::vector<std::pair<double, double>>{
                       {150, 300}, {150, 0}, {300, 0}}));
  module->walk([](rt::NormOp norm) {
    EXPECT_EQ(rt::takesTime(norm), !norm.getContinues());
  });
}

PlanCalls of(double flops, double bytes, double linkBytes,
             const std::string &factors, int64_t stream = 0) {
  PlanCalls calls;
  calls.name = factors;
  calls.stream = stream;
  calls.calls = 1;
  calls.flops = calls.unmaskedFlops = flops;
  calls.bytes = bytes;
  calls.linkBytes = linkBytes;
  calls.factors = factors;
  return calls;
}

TEST(Roofline, TheSlowestUnitBounds) {
  const GpuCard &h100 = *gpuCardNamed("H100");
  struct {
    PlanCalls calls;
    double seconds;
    std::string bound;
  } cases[] = {
      {of(989.4e9, 1e9, 0, "bf16"), 1e-3, "tensor cores"},
      {of(66.9e9, 1e9, 0, "f32"), 1e-3, "fp32"}, // no tf32
      {of(66.9e9, 1e9, 0, ""), 1e-3, "fp32"},
      {of(1e9, 3.35e9, 0, "f16"), 1e-3, "memory"},
      {of(1e9, 1e9, 0.45e9, ""), 1e-3, "link"},
  };
  for (const auto &[calls, seconds, bound] : cases) {
    Floor floor = floorOf(calls, h100);
    EXPECT_DOUBLE_EQ(floor.seconds, seconds);
    EXPECT_EQ(floor.bound, bound);
  }
}

TEST(Roofline, StreamsRunBesideEachOther) {
  std::vector<PlanCalls> calls = {
      of(0, 3.35e9, 0, ""), of(989.4e9, 0, 0, "bf16"), of(0, 0, 0.9e9, "", 1)};
  const GpuCard &h100 = *gpuCardNamed("H100");
  EXPECT_DOUBLE_EQ(floorOf(calls, h100), 2e-3);
  calls.back().linkBytes *= 2;
  EXPECT_DOUBLE_EQ(floorOf(calls, h100), 4e-3);
  calls.back().stream = 0;
  EXPECT_DOUBLE_EQ(floorOf(calls, h100), 6e-3);
}

TEST(Roofline, PartsOfLayersHaveOneName) {
  EXPECT_EQ(runtime::commonPart("layers.0.mlp.up", "layers.11.mlp.up"),
            "layers.*.mlp.up");
  EXPECT_EQ(runtime::commonPart("layers.*.mlp.up", "layers.2.mlp.up"),
            "layers.*.mlp.up");
  EXPECT_EQ(runtime::commonPart("embed", "embed"), "embed");
  EXPECT_EQ(runtime::commonPart("layers.0.norm1", "layers.0.norm2"),
            "layers.0.norm1, ...");
  EXPECT_EQ(runtime::commonPart("layers.0.norm1, ...", "embed"),
            "layers.0.norm1, ...");
}

TEST(Roofline, OccupancyByHand) {
  const GpuCard &h100 = *gpuCardNamed("H100"), &a100 = *gpuCardNamed("A100");
  // 2,048 threads of a multiprocessor.
  EXPECT_EQ(residentBlocks(h100, 256, 0, 0), 8);
  // 40 registers of 32 threads are 1,280, five units: twelve warps in each
  // part's 16,384.
  EXPECT_EQ(residentBlocks(h100, 256, 40, 0), 6);
  EXPECT_DOUBLE_EQ(occupancy(h100, 256, 40, 0), 0.75);
  // 33 are 1,056, which takes five units as well.
  EXPECT_EQ(residentBlocks(h100, 256, 33, 0), 6);
  // 57 KiB and 1 beside it: three of 228, two of 164.
  EXPECT_EQ(residentBlocks(h100, 256, 32, 57 * 1024), 3);
  EXPECT_EQ(residentBlocks(a100, 256, 32, 57 * 1024), 2);
  // At most 32 blocks, however small.
  EXPECT_DOUBLE_EQ(occupancy(h100, 32, 16, 0), 0.5);
  EXPECT_EQ(residentBlocks(h100, 0, 16, 0), 0);
  EXPECT_EQ(residentBlocks(h100, 1024, 255, 0), 0);
}

} // namespace
} // namespace mtc::compiler

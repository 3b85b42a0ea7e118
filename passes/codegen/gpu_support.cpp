//===- gpu_support.cpp - what GPU kernels call ----------------------------===//
//
// A reduction is a butterfly over each warp, then over the warps' totals: every
// thread ends with the same bits. Lanes of absent warps hold the identity. The
// barrier at the start keeps a fast warp from overwriting totals that a slow
// one still reads.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/gpu_support.h"

#include <string>

static std::string reduction(const std::string &name,
                             const std::string &combine,
                             const std::string &identity) {
  auto butterfly = [&](const std::string &prefix, const std::string &start) {
    std::string text, current = start;
    for (int distance = 16; distance >= 1; distance /= 2) {
      std::string other = "%" + prefix + "o" + std::to_string(distance);
      std::string next = "%" + prefix + "s" + std::to_string(distance);
      text += "  " + other +
              " = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float " +
              current + ", i32 " + std::to_string(distance) + ", i32 31)\n";
      text +=
          "  " + next + " = " + combine + current + ", float " + other + ")\n";
      current = next;
    }
    return text;
  };
  return "define linkonce_odr float @" + name +
         "(float %v) alwaysinline convergent {\n" + butterfly("a", "%v") + R"(
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %lane = and i32 %tid, 31
  %warp = lshr i32 %tid, 5
  %slot = getelementptr float, ptr addrspace(3) @mtc_gpu_totals, i32 %warp
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %write, label %wait
write:
  store float %as1, ptr addrspace(3) %slot
  br label %wait
wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %warps = lshr i32 %ntid, 5
  %present = icmp ult i32 %lane, %warps
  %mine = getelementptr float, ptr addrspace(3) @mtc_gpu_totals, i32 %lane
  %loaded = load float, ptr addrspace(3) %mine
  %total = select i1 %present, float %loaded, float )" +
         identity + "\n" + butterfly("b", "%total") + "  ret float %bs1\n}\n";
}

static std::string reader(const std::string &name, const std::string &sreg) {
  return "define linkonce_odr i64 @" + name +
         "() alwaysinline {\n  %v = call i32 @llvm.nvvm.read.ptx.sreg." + sreg +
         "()\n  %w = zext i32 %v to i64\n  ret i64 %w\n}\n" +
         "declare i32 @llvm.nvvm.read.ptx.sreg." + sreg + "()\n";
}

llvm::StringRef mtc::codegen::gpuSupportIr() {
  static const std::string text =
      "@mtc_gpu_totals = internal addrspace(3) global [32 x float] undef, "
      "align 4\n"
      "declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)\n"
      "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
      "declare float @llvm.maximum.f32(float, float)\n"
      "define linkonce_odr float @mtc_gpu_add(float %x, float %y) alwaysinline "
      "{\n"
      "  %s = fadd float %x, %y\n  ret float %s\n}\n" +
      reader("mtc_gpu_thread", "tid.x") + reader("mtc_gpu_threads", "ntid.x") +
      reader("mtc_gpu_block", "ctaid.x") +
      reader("mtc_gpu_blocks", "nctaid.x") +
      reduction("mtc_gpu_sum", "call float @mtc_gpu_add(float ", "-0.0") +
      reduction("mtc_gpu_max", "call float @llvm.maximum.f32(float ",
                "0xFFF0000000000000");
  return text;
}

//===- fragment_numbers_test.cpp - one code for several programs ----------===//

#include "compiler/fragment_numbers.h"
#include "compiler/link/link.h"
#include "compiler/object.h"
#include "compiler/run_phase.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <dlfcn.h>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;

namespace mtc::compiler {
namespace {

using Module = mlir::OwningOpRef<mlir::ModuleOp>;
using Written = std::array<int64_t, 4>;

/// Writes four numbers to memory: of 64 bits, of 32 bits, of an array, and one
/// that all programs have.
constexpr const char kFragments[] = R"(
llvm.mlir.global internal constant @words(dense<[5, {2}]> : tensor<2xi64>) {{alignment = 8 : i64}} : !llvm.array<2 x i64>
llvm.mlir.global internal constant @alike(dense<[7, 8]> : tensor<2xi64>) {{alignment = 8 : i64}} : !llvm.array<2 x i64>
llvm.func @fwd(%to: !llvm.ptr, %step: !llvm.ptr) {{
  %wide = llvm.mlir.constant({0} : i64) : i64
  llvm.store %wide, %to : i64, !llvm.ptr
  %1 = llvm.getelementptr %to[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %narrow = llvm.mlir.constant({1} : i32) : i32
  %signed = llvm.sext %narrow : i32 to i64
  llvm.store %signed, %1 : i64, !llvm.ptr
  %2 = llvm.getelementptr %to[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %words = llvm.mlir.addressof @words : !llvm.ptr
  %second = llvm.getelementptr %words[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %word = llvm.load %second : !llvm.ptr -> i64
  llvm.store %word, %2 : i64, !llvm.ptr
  %3 = llvm.getelementptr %to[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %same = llvm.mlir.constant(9 : i64) : i64
  %alike = llvm.mlir.addressof @alike : !llvm.ptr
  %eight = llvm.load %alike : !llvm.ptr -> i64
  %sum = llvm.add %same, %eight : i64
  %minus = llvm.mlir.constant(-7 : i32) : i32
  %wider = llvm.sext %minus : i32 to i64
  %less = llvm.add %sum, %wider : i64
  llvm.store %less, %3 : i64, !llvm.ptr
  llvm.return
}}
)";

std::string fragments(const Written &numbers) {
  return fmt::format(kFragments, numbers[0], numbers[1], numbers[2]);
}

class FragmentNumbersTest : public testing::Test {
protected:
  void SetUp() override {
    folder =
        fs::temp_directory_path() / ("mtc-numbers-" + std::to_string(getpid()));
    fs::create_directories(folder);
    ASSERT_TRUE(findToolchain(toolchain).ok());
  }
  void TearDown() override { fs::remove_all(folder); }

  Module parse(const std::string &text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  }
  void emit(mlir::ModuleOp module, const std::string &name) {
    auto status = emitObject(module, "x86-64-v3", path(name), 0);
    ASSERT_TRUE(status.ok()) << status.message() << log.take();
  }
  std::string path(const std::string &name) { return (folder / name).string(); }

  /// What `fwd` of two objects writes.
  Written run(const std::string &code, const std::string &tables) {
    Written written{};
    std::string file = path(tables + ".so");
    auto status = linkShared(toolchain, {path(code), path(tables)}, file);
    EXPECT_TRUE(status.ok()) << status.message();
    void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      ADD_FAILURE() << dlerror();
      return written;
    }
    auto *fwd =
        reinterpret_cast<void (*)(int64_t *, void *)>(dlsym(library, "fwd"));
    fwd(written.data(), nullptr);
    dlclose(library);
    return written;
  }

  fs::path folder;
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  DiagnosticLog log{*context};
  Toolchain toolchain;
};

TEST_F(FragmentNumbersTest, OneCodeHasTheNumbersOfEachProgram) {
  const int64_t large = int64_t(1) << 40;
  const std::vector<Written> programs = {
      {3, -1, 6, 9}, {large, -2, 6, 9}, {3, 4, -large, 9}};
  std::vector<FragmentNumbers> numbers;
  std::vector<Module> skeletons;
  for (const Written &program : programs) {
    skeletons.push_back(parse(fragments(program)));
    ASSERT_TRUE(skeletons.back()) << log.take();
    numbers.push_back(takeNumbers(*skeletons.back()));
    EXPECT_TRUE(areAlike(*skeletons.front(), *skeletons.back()));
  }
  DifferentNumbers different = findDifferent(*skeletons.front(), numbers);
  EXPECT_EQ(different.constants, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(different.arrays, std::vector<size_t>{0});

  putNumbers(*skeletons.front(), numbers.front(), different);
  emit(*skeletons.front(), "code.o");
  for (size_t i = 0; i < programs.size(); ++i) {
    Module tables =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(context.get()));
    defineNumbers(*tables, numbers[i], different);
    std::string name = fmt::format("tables{}.o", i);
    emit(*tables, name);
    EXPECT_EQ(run("code.o", name), programs[i]);
  }
}

TEST_F(FragmentNumbersTest, AllElseMustBeEqual) {
  std::string text = fragments({3, -1, 6, 9});
  Module first = parse(text);
  ASSERT_TRUE(first) << log.take();
  takeNumbers(*first);
  for (auto [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"[1] : (!llvm.ptr)", "[2] : (!llvm.ptr)"},
           {"llvm.add %same", "llvm.mul %same"},
           {"add %same, %eight", "add %eight, %same"},
           {"@fwd", "@bwd"},
           {"dense<[7, 8]> : tensor<2xi64>) {alignment = 8 : i64} : "
            "!llvm.array<2 x i64>",
            "dense<[7, 8, 9]> : tensor<3xi64>) {alignment = 8 : i64} : "
            "!llvm.array<3 x i64>"}}) {
    std::string changed = text;
    size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    Module other = parse(changed);
    ASSERT_TRUE(other) << from << log.take();
    takeNumbers(*other);
    EXPECT_FALSE(areAlike(*first, *other)) << from;
  }
}

/// The frame of a function has a size of its own.
TEST_F(FragmentNumbersTest, WhatAFunctionAllocatesIsNoNumber) {
  auto frame = [&](int words) {
    return parse(
        fmt::format("llvm.func @fwd(%a: !llvm.ptr, %b: !llvm.ptr) {{\n"
                    "  %n = llvm.mlir.constant({} : i64) : i64\n"
                    "  %0 = llvm.alloca %n x i64 : (i64) -> !llvm.ptr\n"
                    "  llvm.return\n}}\n",
                    words));
  };
  Module small = frame(4), large = frame(8);
  ASSERT_TRUE(small && large) << log.take();
  EXPECT_TRUE(takeNumbers(*small).constants.empty());
  takeNumbers(*large);
  EXPECT_FALSE(areAlike(*small, *large));
}

} // namespace
} // namespace mtc::compiler

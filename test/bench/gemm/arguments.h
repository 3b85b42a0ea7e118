//===- arguments.h - what benches of products are told ----------*- C++ -*-===//
#ifndef MTC_TEST_BENCH_GEMM_ARGUMENTS_H
#define MTC_TEST_BENCH_GEMM_ARGUMENTS_H

#include "test/bench/gemm/products.h"

#include "mtc/runtime/isa.h"
#include "runtime/kernels/cpu/gemm.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

struct Arguments {
  int64_t tokens = 0;
  int threads = 1, repeats = 5;
  bool isBf16 = false;
  std::string part; ///< of a name; empty: all products
  std::string isa;
  mtc::runtime::SecondLevel cache = mtc::runtime::secondLevelHere();

  /// Bytes of the largest operand or result.
  int64_t mostBytes() const {
    return std::max<int64_t>(768, tokens) * 50304 * 4 + 8192;
  }
  bool takes(const Product &product) const {
    return product.name.find(part) != std::string::npos;
  }
};

/// False, and said, if there are too few, or the processor lacks the
/// instruction set.
inline bool parse(int argc, char **argv, Arguments &out) {
  if (argc < 4) {
    std::fprintf(stderr,
                 "usage: %s TOKENS THREADS f32|bf16 [REPEATS [PART OF A "
                 "NAME [ISA [usual|large]]]]\n",
                 argv[0]);
    return false;
  }
  out.tokens = std::atoi(argv[1]);
  out.threads = std::max(1, std::atoi(argv[2]));
  out.isBf16 = !std::strcmp(argv[3], "bf16");
  if (argc > 4)
    out.repeats = std::atoi(argv[4]);
  if (argc > 5)
    out.part = argv[5];
  const char *bf16 = mtc::runtime::processorHas("x86-64-v4-amx")
                         ? "x86-64-v4-amx"
                         : "x86-64-v4-bf16";
  out.isa = argc > 6 ? argv[6] : out.isBf16 ? bf16 : "x86-64-v4";
  if (argc <= 6 && !out.isBf16 && !mtc::runtime::processorHas(out.isa))
    out.isa = "x86-64-v3";
  if (argc > 7) {
    const std::string_view cache = argv[7];
    if (cache != "usual" && cache != "large") {
      std::fprintf(stderr, "expected usual or large, found %s\n", argv[7]);
      return false;
    }
    out.cache = cache == "large" ? mtc::runtime::SecondLevel::large
                                 : mtc::runtime::SecondLevel::usual;
  }
  mtc::runtime::Status status = mtc::runtime::gemmSelectIsa(out.isa);
  if (!status.ok())
    std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok();
}

/// A bench that has run the products that are wanted, on operands of its own.
template <typename Bench> Bench runProducts(const Arguments &given) {
  Bench bench{given, Slots(given.mostBytes()), Slots(given.mostBytes()),
              Slots(given.mostBytes())};
  for (const Product &product : productsOf(given.tokens))
    if (given.takes(product))
      bench.run(product);
  return bench;
}

#endif // MTC_TEST_BENCH_GEMM_ARGUMENTS_H

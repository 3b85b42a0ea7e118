// The products of a gpt2-124m step by each primitive of oneDNN that computes
// them, beside our own kernel, in turn: matmul, inner_product forward, backward
// by data and by weights, and those that read weights in an order of oneDNN's
// choice, whose reorder is timed apart. Nothing is added to the results, which
// inner_product backward cannot. Buffers rotate, as in bench_gemm.
//
// usage: bench_primitives TOKENS THREADS f32|bf16 [REPEATS [PART OF A NAME
//        [ISA [usual|large]]]]
#include "test/bench/gemm/arguments.h"

#include "runtime/kernels/cpu/team.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <cerrno>
#include <functional>

// As in gemm_onednn.cpp: of the runtime that the library's threads belong to.
extern "C" void omp_set_num_threads(int threads);

using namespace mtc::runtime;
using dnnl::memory;

/// Bytes that oneDNN has allocated so far: it asks here.
static int64_t allocated = 0;

extern "C" int posix_memalign(void **out, size_t alignment, size_t bytes) {
  allocated += int64_t(bytes);
  size_t whole = (bytes + alignment - 1) / alignment * alignment;
  *out = std::aligned_alloc(alignment, whole);
  return *out ? 0 : ENOMEM;
}

namespace {

dnnl::engine &engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

/// What computes a product, from operands as plans have them.
struct Candidate {
  std::string name, implementation;
  int64_t bBytes = 0; ///< of b as it reads it
  int64_t scratchBytes = 0;
  std::function<void(void *a, void *b, void *c, void *scratch)> run;
  int64_t allocated = 0; ///< bytes in a call
  double best = 1e30;    ///< seconds
  double reorder = 1e30; ///< of b, to what it reads
};

/// The product as problems of oneDNN.
class Candidates {
public:
  Candidates(const Product &product, bool isBf16)
      : p(product),
        type(isBf16 ? memory::data_type::bf16 : memory::data_type::f32),
        cType(product.beta ? memory::data_type::f32 : type) {
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  }

  std::vector<Candidate> all() {
    std::vector<Candidate> out;
    auto plainB = matrix(p.k, p.n, p.tb, type);
    out.push_back(matmul("matmul", plainB));
    if (p.ta) {
      out.push_back(byWeights("ip weights", false));
      out.push_back(byWeights("ip weights'", true));
      return out;
    }
    auto any = memory::desc({p.k, p.n}, type, memory::format_tag::any);
    auto anyT = memory::desc({p.n, p.k}, type, memory::format_tag::any);
    out.push_back(forward("ip forward", matrix(p.n, p.k, !p.tb, type)));
    out.push_back(byData("ip data", plainB));
    out.push_back(matmul("matmul packed", any));
    out.push_back(forward("ip fwd packed", anyT));
    out.push_back(byData("ip data packed", any));
    return out;
  }

private:
  static memory::desc matrix(int64_t rows, int64_t columns, bool transposed,
                             memory::data_type type) {
    return {{rows, columns},
            type,
            transposed ? memory::dims{1, rows} : memory::dims{columns, 1}};
  }

  template <typename Desc>
  Candidate make(const char *name, const Desc &pd, const memory::desc &a,
                 const memory::desc &b, const memory::desc &c, int aArg,
                 int bArg, int cArg) {
    memory mine[] = {{a, engine(), nullptr},
                     {b, engine(), nullptr},
                     {c, engine(), nullptr},
                     {pd.scratchpad_desc(), engine(), nullptr}};
    dnnl::primitive primitive(pd.get());
    auto run = [=, stream = dnnl::stream(engine())](void *x, void *y, void *z,
                                                    void *scratch) mutable {
      void *pointers[] = {x, y, z, scratch};
      for (int i = 0; i < 4; ++i)
        mine[i].set_data_handle(pointers[i], stream);
      primitive.execute(stream, {{aArg, mine[0]},
                                 {bArg, mine[1]},
                                 {cArg, mine[2]},
                                 {DNNL_ARG_SCRATCHPAD, mine[3]}});
    };
    Candidate out;
    out.name = name;
    out.implementation = pd.impl_info_str();
    out.bBytes = int64_t(b.get_size());
    out.scratchBytes = int64_t(pd.scratchpad_desc().get_size());
    out.run = run;
    return out;
  }

  Candidate matmul(const char *name, const memory::desc &b) {
    dnnl::matmul::primitive_desc pd(
        {matrix(p.m, p.k, p.ta, type), b, matrix(p.m, p.n, false, cType)}, attr,
        engine());
    Candidate out =
        make(name, pd, pd.src_desc(), pd.weights_desc(), pd.dst_desc(),
             DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST);
    timeReorder(pd.weights_desc(), matrix(p.k, p.n, p.tb, type), out);
    return out;
  }

  dnnl::inner_product_forward::primitive_desc
  forwardOf(const memory::desc &src, const memory::desc &weights,
            const memory::desc &dst) {
    return {
        {dnnl::prop_kind::forward_training, src, weights, dst}, attr, engine()};
  }

  Candidate forward(const char *name, const memory::desc &weights) {
    auto pd = forwardOf(matrix(p.m, p.k, false, type), weights,
                        matrix(p.m, p.n, false, cType));
    Candidate out =
        make(name, pd, pd.src_desc(), pd.weights_desc(), pd.dst_desc(),
             DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST);
    timeReorder(pd.weights_desc(), matrix(p.n, p.k, !p.tb, type), out);
    return out;
  }

  /// c is the gradient of an input of n features, a that of k outputs.
  Candidate byData(const char *name, const memory::desc &weights) {
    auto a = matrix(p.m, p.k, false, type), c = matrix(p.m, p.n, false, cType);
    auto hint = forwardOf(c, weights, a);
    dnnl::inner_product_backward_data::primitive_desc pd({c, weights, a}, attr,
                                                         engine(), hint);
    Candidate out = make(name, pd, pd.diff_dst_desc(), pd.weights_desc(),
                         pd.diff_src_desc(), DNNL_ARG_DIFF_DST,
                         DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC);
    timeReorder(pd.weights_desc(), matrix(p.k, p.n, p.tb, type), out);
    return out;
  }

  /// c is the gradient of weights [m, n], or of ones of which it is the
  /// transpose.
  Candidate byWeights(const char *name, bool transposed) {
    auto a = matrix(p.k, p.m, false, type), b = matrix(p.k, p.n, false, type);
    int64_t outs = transposed ? p.n : p.m, ins = transposed ? p.m : p.n;
    auto c = matrix(outs, ins, transposed, cType);
    auto w = matrix(outs, ins, transposed, type);
    auto &src = transposed ? a : b, &dst = transposed ? b : a;
    auto hint = forwardOf(src, w, dst);
    dnnl::inner_product_backward_weights::primitive_desc pd({src, c, dst}, attr,
                                                            engine(), hint);
    return make(
        name, pd, a, b, c, transposed ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST,
        transposed ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS);
  }

  void timeReorder(const memory::desc &to, const memory::desc &from,
                   Candidate &out) {
    if (to == from)
      return;
    memory x(from, engine()), y(to, engine());
    dnnl::stream stream(engine());
    dnnl::reorder reorder(x, y);
    for (int i = 0; i < 3; ++i) {
      double start = seconds(2);
      reorder.execute(stream, x, y);
      out.reorder = std::min(out.reorder, seconds(2) - start);
    }
  }

  const Product &p;
  memory::data_type type, cType;
  dnnl::primitive_attr attr;
};

struct Bench {
  const Arguments &given;
  Slots a, b, c;
  double times[3] = {0, 0, 0}; ///< own, matmul, the best for each product

  Candidate own(const Product &p, GemmSet &set) {
    MtcDtype ab = given.isBf16 ? MTC_BF16 : MTC_F32;
    GemmDesc row{p.m,
                 p.n,
                 p.k,
                 p.ta,
                 p.tb,
                 0,
                 ab,
                 p.beta ? MTC_F32 : ab,
                 p.beta ? GemmKernel::ownStreamed : GemmKernel::own};
    if (Status status = set.create({&row, 1}, given.threads, given.cache);
        !status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      std::exit(1);
    }
    Candidate out;
    out.name = "own";
    out.bBytes = p.k * p.n * (given.isBf16 ? 2 : 4);
    out.scratchBytes = set.scratchBytes(0);
    out.run = [&set](void *x, void *y, void *z, void *scratch) {
      (void)set.execute(0, x, y, z, scratch);
    };
    return out;
  }

  void run(const Product &p) {
    GemmSet set;
    std::vector<Candidate> all = Candidates(p, given.isBf16).all();
    all.insert(all.begin(), own(p, set));
    int64_t size = given.isBf16 ? 2 : 4,
            cSize = given.isBf16 && !p.beta ? 2 : 4, most = 0;
    for (const Candidate &each : all)
      most = std::max(most, each.scratchBytes);
    Slots scratch(most);
    for (int i = -1; i < given.repeats; ++i)
      for (Candidate &each : all) {
        void *x = a.next(p.m * p.k * size), *y = b.next(each.bBytes),
             *z = c.next(p.m * p.n * cSize), *space = scratch.next(0);
        int64_t before = allocated;
        double start = seconds(given.threads);
        each.run(x, y, z, space);
        each.allocated = allocated - before;
        if (i >= 0)
          each.best = std::min(each.best, seconds(given.threads) - start);
      }
    report(p, all);
  }

  void report(const Product &p, const std::vector<Candidate> &all) {
    std::printf("%-22s %6ld x %6ld x %6ld  own %8.3f ms\n", p.name.c_str(),
                long(p.m), long(p.n), long(p.k), all[0].best * 1e3);
    double least = all[0].best;
    for (size_t i = 1; i < all.size(); ++i) {
      const Candidate &each = all[i];
      bool isPacked = each.reorder < 1e29;
      std::printf("    %-15s %8.3f ms  %5.1f %% of own's  scratch %6.2f MiB  "
                  "a call allocates %5ld KiB  %s",
                  each.name.c_str(), each.best * 1e3,
                  100 * each.best / all[0].best,
                  double(each.scratchBytes) / (1 << 20),
                  long(each.allocated >> 10), each.implementation.c_str());
      std::printf(isPacked ? "  reorder %.3f ms\n" : "\n", each.reorder * 1e3);
      if (!isPacked)
        least = std::min(least, each.best);
    }
    std::fflush(stdout);
    times[0] += p.count * all[0].best;
    times[1] += p.count * all[1].best;
    times[2] += p.count * least;
  }
};

int runAll(const Arguments &given) {
  omp_set_num_threads(given.threads);
  const auto bench = runProducts<Bench>(given);
  std::printf("a step: own %.1f ms, matmul %.1f, the best without packing "
              "%.1f\n",
              bench.times[0] * 1e3, bench.times[1] * 1e3, bench.times[2] * 1e3);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  Arguments given;
  if (!parse(argc, argv, given))
    return 2;
  try {
    return runAll(given);
  } catch (const dnnl::error &error) {
    std::fprintf(stderr, "onednn: %s\n", error.what());
    return 1;
  }
}

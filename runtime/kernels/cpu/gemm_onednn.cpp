//===- gemm_onednn.cpp - products of oneDNN -------------------------------===//
#include "runtime/kernels/cpu/gemm_onednn.h"

#include "runtime/base/f16.h"
#include "runtime/kernels/cpu/gemm_check.h"
#include "runtime/kernels/cpu/isa.h"
#include "runtime/kernels/cpu/kernel_table.h"
#include "runtime/kernels/cpu/onednn_calls.h"
#include "runtime/kernels/cpu/team.h"

#include <algorithm>
#include <array>
#include <atomic>

// Of the OpenMP runtime that the library's threads belong to. The header of the
// same name is that of the compiler's own runtime, which may be another one.
extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int threads);
extern "C" int omp_get_dynamic(void);
extern "C" void omp_set_dynamic(int isDynamic);

namespace mtc::runtime {

namespace {

/// From here on OpenMP gives this thread so many, if it has them: with fewer
/// (OMP_DYNAMIC) kernels of oneDNN's leave parts of a result out, or wait for
/// threads that never come.
void takeThreads(int threads) {
  omp_set_dynamic(0);
  if (omp_get_max_threads() != threads)
    omp_set_num_threads(threads);
}

/// Whether it has them.
Status checkTeam(int threads) {
  int64_t given = 1;
  onTeam(threads, [&given](int64_t part, int64_t parts) {
    if (part == 0)
      given = parts;
  });
  if (given == threads)
    return Status::okay();
  return {StatusCode::infeasible,
          "products of onednn: expected the plan's " + std::to_string(threads) +
              " threads per rank, found that OpenMP gives " +
              std::to_string(given) +
              "; take limits out of the environment (OMP_THREAD_LIMIT, "
              "OMP_MAX_ACTIVE_LEVELS), or compile with kernels of our own "
              "(--gemm own)"};
}

/// Sets this thread's OpenMP thread count, and back.
class ThreadScope {
public:
  explicit ThreadScope(int threads)
      : before_(omp_get_max_threads()), wasDynamic_(omp_get_dynamic()) {
    takeThreads(threads);
  }
  ~ThreadScope() {
    omp_set_num_threads(before_);
    omp_set_dynamic(wasDynamic_);
  }
  ThreadScope(const ThreadScope &) = delete;
  ThreadScope &operator=(const ThreadScope &) = delete;

private:
  int before_, wasDynamic_;
};

Status oneDnnError(const char *what, const GemmDesc &d,
                   const dnnl::error &error) {
  return {StatusCode::failed, std::string("onednn could not ") + what +
                                  " the product " + describe(d) + ": " +
                                  error.what()};
}

/// The instruction sets of isa.h as oneDNN calls them.
struct IsaCap {
  std::string_view name;
  dnnl_cpu_isa_t cap;
};
constexpr IsaCap kIsaCaps[] = {
    {"x86-64-v3", dnnl_cpu_isa_avx2},
    {"x86-64-v4", dnnl_cpu_isa_avx512_core},
    {"x86-64-v4-bf16", dnnl_cpu_isa_avx512_core_bf16},
    {"x86-64-v4-amx", dnnl_cpu_isa_avx512_core_amx}};

std::atomic<const IsaCap *> selectedIsa = nullptr;

/// A product of f16 as the library makes it: of operands in fp32.
GemmDesc wideOf(GemmDesc d) {
  if (d.ab == MTC_F16)
    d.ab = d.c = MTC_F32;
  return d;
}

/// To the next multiple of a line of a cache.
int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Where a product of f16 has its operands in fp32, in bytes of the scratch,
/// behind which lies the library's own. A product in fp32 has none.
struct WideOperands {
  explicit WideOperands(const GemmDesc &d) {
    if (d.ab != MTC_F16)
      return;
    a = d.m * d.k;
    b = d.k * d.n;
    c = d.c == MTC_F16 ? d.m * d.n : 0;
  }
  int64_t a = 0, b = 0, c = 0; ///< elements
  static int64_t bytes(int64_t elements) { return aligned(4 * elements); }
  int64_t bytes() const { return bytes(a) + bytes(b) + bytes(c); }
};

void widen(const void *in, float *out, int64_t count) {
  auto *from = static_cast<const uint16_t *>(in);
  if (const KernelTable *table = selectedKernels())
    return table->widenF16(from, out, count);
  for (int64_t i = 0; i < count; ++i)
    out[i] = widenF16(from[i]);
}

void round(const float *in, void *out, int64_t count) {
  auto *to = static_cast<uint16_t *>(out);
  if (const KernelTable *table = selectedKernels())
    return table->roundToF16(in, to, count);
  for (int64_t i = 0; i < count; ++i)
    to[i] = roundToF16(in[i]);
}

Status plan(const GemmDesc &d, OneDnnCalls &out) {
  std::string found;
  try {
    out = oneDnnCalls(wideOf(d));
    if (isAllPlanned(out))
      return Status::okay();
    for (const OneDnnCall &call : out.calls)
      found += (found.empty() ? "" : " and ") + call.name;
  } catch (const dnnl::error &error) {
    if (error.status != dnnl_unimplemented)
      return oneDnnError("plan", d, error);
    found = "none";
  }
  return {StatusCode::infeasible,
          "the product " + describe(d) +
              ": expected a kernel of onednn whose memory is planned (brg), "
              "found " +
              found + ", under " + std::string(gemmIsa()) +
              "; compile with kernels of our own (--gemm own)"};
}

/// What the scratch has, one behind the other: operands of fp32, weights in
/// oneDNN's order, and the scratch of its calls.
int64_t scratchOf(const WideOperands &wide, const OneDnnCalls &calls) {
  return wide.bytes() + aligned(calls.weightsBytes) + calls.scratchBytes;
}

/// A call with its memory objects, of which only pointers change.
struct ReadyCall {
  explicit ReadyCall(const OneDnnCall &call) : primitive(call.primitive) {
    for (const OneDnnOperand &operand : call.operands) {
      memories.push_back({operand.desc, oneDnnEngine(), DNNL_MEMORY_NONE});
      places.push_back(operand.place);
      arguments.push_back({operand.argument, memories.back().get()});
    }
  }

  dnnl_status_t run(dnnl_stream_t stream,
                    const std::array<void *, kOneDnnPlaces> &at) const {
    for (size_t i = 0; i < places.size(); ++i)
      if (dnnl_status_t status = dnnl_memory_set_data_handle_v2(
              memories[i].get(), at[size_t(places[i])], stream);
          status != dnnl_success)
        return status;
    // The C call takes the arguments as they lie; the C++ one allocates a map.
    return dnnl_primitive_execute(primitive.get(), stream,
                                  int(arguments.size()), arguments.data());
  }

  dnnl::primitive primitive;
  std::vector<dnnl::memory> memories;
  std::vector<OneDnnPlace> places;
  std::vector<dnnl_exec_arg_t> arguments;
};

struct Row {
  std::vector<ReadyCall> calls;
  int64_t weightsBytes; ///< in the scratch, aligned
  int64_t scratchBytes; ///< of all of it
  WideOperands wide;
  bool adds; ///< to what c holds
};

Row rowOf(const GemmDesc &d, const OneDnnCalls &planned) {
  const WideOperands wide(d);
  return {{planned.calls.begin(), planned.calls.end()},
          aligned(planned.weightsBytes),
          scratchOf(wide, planned),
          wide,
          d.beta == 1};
}

dnnl_status_t runCalls(const Row &row, dnnl_stream_t stream, const void *a,
                       const void *b, void *c, void *scratch) {
  auto *weights = static_cast<char *>(scratch);
  const std::array<void *, kOneDnnPlaces> at = {
      const_cast<void *>(a), const_cast<void *>(b), c, weights,
      weights + row.weightsBytes};
  for (const ReadyCall &call : row.calls)
    if (dnnl_status_t status = call.run(stream, at); status != dnnl_success)
      return status;
  return dnnl_success;
}

/// A product of f16 is that of the same values in fp32: each of its terms is
/// exact there. Only the result is rounded, once.
dnnl_status_t runRow(const Row &row, dnnl_stream_t stream, const void *a,
                     const void *b, void *c, void *scratch) {
  const WideOperands &wide = row.wide;
  if (wide.a == 0)
    return runCalls(row, stream, a, b, c, scratch);
  auto *at = static_cast<char *>(scratch);
  auto next = [&at](int64_t elements) {
    auto *range = reinterpret_cast<float *>(at);
    at += WideOperands::bytes(elements);
    return range;
  };
  float *wideA = next(wide.a), *wideB = next(wide.b), *wideC = next(wide.c);
  widen(a, wideA, wide.a);
  widen(b, wideB, wide.b);
  if (wide.c > 0 && row.adds)
    widen(c, wideC, wide.c);
  dnnl_status_t status =
      runCalls(row, stream, wideA, wideB, wide.c > 0 ? wideC : c, at);
  if (wide.c > 0 && status == dnnl_success)
    round(wideC, c, wide.c);
  return status;
}

} // namespace

Status gemmSelectIsa(std::string_view isa) {
  const IsaCap *known = std::ranges::find(kIsaCaps, isa, &IsaCap::name);
  if (known == std::end(kIsaCaps))
    return {StatusCode::usage, "expected instruction set " + isaNames() +
                                   ", found '" + std::string(isa) + "'"};
  if (!processorHas(isa))
    return {StatusCode::infeasible, "the plan's products need a CPU with " +
                                        std::string(isa) + ", " + lackOf(isa)};
  if (dnnl_set_max_cpu_isa(known->cap) == dnnl_success ||
      dnnl_get_effective_cpu_isa() == known->cap) {
    selectedIsa.store(known, std::memory_order_release);
    return Status::okay();
  }
  return {StatusCode::usage,
          "expected the instruction set " + std::string(isa) +
              " before the first product, found that onednn already runs with "
              "another one: all programs of a process need the same"};
}

std::string_view gemmIsa() {
  const IsaCap *isa = selectedIsa.load(std::memory_order_acquire);
  return isa ? isa->name : std::string_view();
}

Status oneDnnScratch(const GemmDesc &desc, int threads, int64_t *bytes) {
  ThreadScope scope(threads);
  OneDnnCalls planned;
  MTC_RETURN_IF_ERROR(plan(desc, planned));
  *bytes = scratchOf(WideOperands(desc), planned);
  return Status::okay();
}

bool isPlannedByLibrary(const GemmDesc &desc, int threads) {
  int64_t bytes = 0;
  return checkGemm(desc, threads).ok() &&
         oneDnnScratch(desc, threads, &bytes).ok();
}

std::string gemmLibraryVersion() {
  const dnnl_version_t *v = dnnl_version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch) + " (" + v->hash + ")";
}

struct OneDnnGemm::Impl {
  dnnl::stream stream{oneDnnEngine()};
  Row row;
  int threads;
};

OneDnnGemm::OneDnnGemm() = default;
OneDnnGemm::~OneDnnGemm() = default;
OneDnnGemm::OneDnnGemm(OneDnnGemm &&) noexcept = default;

Status OneDnnGemm::create(const GemmDesc &desc, int threads) {
  ThreadScope scope(threads);
  OneDnnCalls planned;
  MTC_RETURN_IF_ERROR(plan(desc, planned));
  MTC_RETURN_IF_ERROR(checkTeam(threads));
  try {
    impl_.reset(new Impl{.row = rowOf(desc, planned), .threads = threads});
  } catch (const dnnl::error &error) {
    return oneDnnError("create", desc, error);
  }
  return Status::okay();
}

int64_t OneDnnGemm::scratchBytes() const { return impl_->row.scratchBytes; }

Status OneDnnGemm::run(const void *a, const void *b, void *c, void *scratch) {
  takeThreads(impl_->threads);
  dnnl_status_t status =
      runRow(impl_->row, impl_->stream.get(), a, b, c, scratch);
  if (status != dnnl_success)
    return {StatusCode::failed,
            "onednn failed with code " + std::to_string(int(status))};
  return Status::okay();
}

} // namespace mtc::runtime

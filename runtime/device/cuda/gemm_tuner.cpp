//===- gemm_tuner.cpp - which algorithms are fastest on a GPU -------------===//

#include "runtime/device/cuda/gemm_tuner.h"

#include "runtime/device/cuda/cuda_context.h"
#include "runtime/device/cuda/gemm_timer.h"
#include "runtime/device/tuned_products.h"

#include <algorithm>

using mtc::runtime::GemmInfo;
using mtc::runtime::GpuPlace;
using mtc::runtime::Status;

namespace mtc::cuda {
namespace {

/// Of calls in a row, which take as long as their sum.
constexpr double kRoundMicroseconds = 2000;

/// The context of the GPU, a stream and the library.
class Bench {
public:
  explicit Bench(const Driver &driver) : driver_(driver), context_(driver) {}
  Bench(const Bench &) = delete;
  Bench &operator=(const Bench &) = delete;
  ~Bench() {
    if (handle_)
      (void)blas_->destroy(handle_);
    if (stream_)
      (void)driver_.destroyStream(stream_);
  }

  Status open(const GpuPlace &place, GemmTable &table) {
    MTC_RETURN_IF_ERROR(context_.open(place));
    MTC_RETURN_IF_ERROR(
        driver_.check(driver_.setContext(context_.get()), "cuCtxSetCurrent"));
    MTC_RETURN_IF_ERROR(driver_.check(
        driver_.createStream(&stream_, kNonBlockingStream), "cuStreamCreate"));
    MTC_RETURN_IF_ERROR(Blas::load(blas_));
    table.gpu = context_.gpuName();
    table.library = static_cast<int64_t>(blas_->version());
    return blas_->check(blas_->create(&handle_), "cublasLtCreate");
  }

  Status tune(const GemmInfo &row, const TuneEffort &effort, TunedGemm &out) {
    GemmProduct product(*blas_);
    GemmTimer timer(driver_, stream_);
    std::vector<MatmulAlgo> algorithms;
    MTC_RETURN_IF_ERROR(product.create(row));
    MTC_RETURN_IF_ERROR(timer.open(row));
    MTC_RETURN_IF_ERROR(product.algorithms(handle_, timer.operands(),
                                           kTunedAlignment, effort.algorithms,
                                           algorithms));
    // The first call of an algorithm loads its code.
    int calls = 1;
    for (const MatmulAlgo &algorithm : algorithms) {
      double time = 0;
      MTC_RETURN_IF_ERROR(timer.time(handle_, product, algorithm, 1, time));
      MTC_RETURN_IF_ERROR(timer.time(handle_, product, algorithm, 1, time));
      calls = std::max(calls, int(std::min(kRoundMicroseconds / time, 100.0)));
    }
    std::vector<std::vector<double>> times(algorithms.size());
    for (int round = 0; round < effort.rounds; ++round)
      for (size_t i = 0; i < algorithms.size(); ++i)
        MTC_RETURN_IF_ERROR(timer.time(handle_, product, algorithms[i], calls,
                                       times[i].emplace_back()));
    out = fastest(algorithms, times);
    return Status::okay();
  }

private:
  const Driver &driver_;
  CudaContext context_; ///< goes last
  StreamHandle stream_ = nullptr;
  const Blas *blas_ = nullptr;
  BlasHandle handle_ = nullptr;
};

} // namespace

TunedGemm fastest(const std::vector<MatmulAlgo> &algorithms,
                  const std::vector<std::vector<double>> &times) {
  const double first = runtime::median(times[0]);
  TunedGemm out{algorithms[0], first, first};
  for (size_t i = 1; i < algorithms.size(); ++i)
    if (double time = runtime::median(times[i]);
        time < out.microseconds && time < runtime::kClearlyFaster * first) {
      out.algorithm = algorithms[i];
      out.microseconds = time;
    }
  return out;
}

Status tuneGemms(const std::set<GemmInfo> &rows, const GpuPlace &place,
                 const TuneEffort &effort, const TunedOne &told,
                 GemmTable &out) {
  const Driver *driver = nullptr;
  MTC_RETURN_IF_ERROR(Driver::load(driver));
  Bench bench(*driver);
  MTC_RETURN_IF_ERROR(bench.open(place, out));
  for (const GemmInfo &row : rows) {
    if (!isForLibrary(row))
      continue;
    TunedGemm &tuned = out.rows[row];
    MTC_RETURN_IF_ERROR(bench.tune(row, effort, tuned));
    told(row, tuned);
  }
  return Status::okay();
}

} // namespace mtc::cuda

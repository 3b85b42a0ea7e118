//===- cuda_device.cpp - a rank on an NVIDIA GPU --------------------------===//

#include "runtime/device/cpu/arena.h"
#include "runtime/device/cuda/cuda_calls.h"
#include "runtime/device/cuda/cuda_context.h"
#include "runtime/device/cuda/cuda_keeper.h"
#include "runtime/device/cuda/cuda_memory.h"
#include "runtime/device/cuda/staged_comm.h"
#include "runtime/device/device_factory.h"
#include "runtime/program/descriptor.h"
#include "runtime/program/program.h"

#include <algorithm>

using mtc::runtime::ArenaViews;
using mtc::runtime::Descriptor;
using mtc::runtime::DeviceRequest;
using mtc::runtime::Status;

namespace mtc::cuda {
namespace {

class CudaDevice final : public runtime::Device {
public:
  explicit CudaDevice(const Driver &driver)
      : driver_(driver), context_(driver), stream_(driver),
        arenaMemory_(driver), workspace_(driver), calls_(driver, stream_) {}

  /// Modules and memory go with the context current, in whatever thread, and
  /// when nothing uses them any more.
  ~CudaDevice() override {
    if (!context_.get())
      return;
    (void)driver_.setContext(context_.get());
    if (nccl_ && nccl_->aborted())
      nccl_->end();
    if (stream_.handle())
      (void)driver_.waitStream(stream_.handle());
    keeper_.reset();
    comms_.reset();
    if (stream_.handle())
      (void)driver_.waitStream(stream_.handle());
  }

  Status open(const DeviceRequest &request) {
    rank_ = request.rank;
    gemmTable_ = request.gemmTable;
    byNccl_ = request.nccl;
    MTC_RETURN_IF_ERROR(context_.open(request.gpu));
    MTC_RETURN_IF_ERROR(stream_.open(context_.get()));
    if (byNccl_) {
      const Nccl *nccl = nullptr;
      MTC_RETURN_IF_ERROR(Nccl::load(nccl));
      arenaMemory_.takeFrom(*nccl);
    }
    MTC_RETURN_IF_ERROR(arenaMemory_.allocate(
        request.sizes, "the arenas of the plan", stream_.handle()));
    for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind)
      arenas_[kind] = {pointerTo(arenaMemory_.part(kind)), request.sizes[kind]};
    stream_.setArenas(arenas_);
    calls_.setState(static_cast<MtcStepState *>(arenas_[MTC_ARENA_STEP].base));
    return openMirror(request);
  }

  const ArenaViews &arenas() const override { return arenas_; }
  const ArenaViews &hostArenas() const override { return mirror_; }
  runtime::Stream &stream() override { return stream_; }

  Status prepare(const Descriptor &d) override {
    const GpuChip *chip = nullptr;
    MTC_RETURN_IF_ERROR(context_.chooseChip(d.device, chip));
    calls_.setChip(*chip, chip->capability == context_.capability());
    mesh_ = d.mesh;
    kernels_ = d.kernels;
    MTC_RETURN_IF_ERROR(
        calls_.setGemms(d.gemms, gemmTable_, context_.gpuName()));
    const int64_t bytes[] = {d.kernelWorkspace};
    return workspace_.allocate(bytes, "the workspace of kernels",
                               stream_.handle());
  }

  Status load(const runtime::Program &program) override {
    // Ranks of one process have a thread each from here on.
    MTC_RETURN_IF_ERROR(
        driver_.check(driver_.setContext(context_.get()), "cuCtxSetCurrent"));
    MTC_RETURN_IF_ERROR(calls_.load(program, kernels_));
    // What goes by the host's memory is waited for in the middle of a walk.
    if (nccl_ || mesh_.worldSize() == 1) {
      keeper_ = std::make_unique<CudaKeeper>(driver_, stream_, nccl_.get(),
                                             comms_.get());
      MTC_RETURN_IF_ERROR(keeper_->limitNodes());
    }
    if (mesh_.worldSize() > 1)
      MTC_RETURN_IF_ERROR(calls_.agreeOnGemms(
          *staged_, static_cast<int>(mesh_.worldSize()), rank_));
    if (!nccl_)
      return Status::okay();
    nccl_->beforeEnd([this] { keeper_->drop(); });
    MTC_RETURN_IF_ERROR(nccl_->open(mesh_, rank_, arenaMemory_.all()));
    stream_.watch([this](bool failed) {
      Status reason = nccl_->worldFailure();
      if (failed || !reason.ok()) {
        nccl_->abort();
        nccl_->end();
      }
      return reason;
    });
    return comms_->open();
  }

  Status gemm(int64_t index, const GemmOperands &operands) override {
    return calls_.gemm(index, operands);
  }
  Status pack(const runtime::PackOperands &) override {
    return {runtime::StatusCode::internal,
            "expected no weights packed for products of a GPU, whose library "
            "reads them as they are, found a call that packs some"};
  }
  std::string chosen() const override { return calls_.chosenGemms(); }
  runtime::DeviceCalls *calls() override { return &calls_; }
  void *kernelWorkspace() override { return pointerTo(workspace_.part(0)); }

  runtime::Communicator &issuing(runtime::Communicator &backend) override {
    staged_ = std::make_unique<StagedCommunicator>(stream_, backend, arenas_,
                                                   mirror_, mesh_, rank_);
    if (!byNccl_)
      return *staged_;
    nccl_ = std::make_unique<NcclCommunicator>(driver_, stream_, calls_,
                                               *staged_, arenas_);
    comms_ = std::make_unique<CudaCommStream>(driver_, stream_, *nccl_);
    return *nccl_;
  }
  runtime::CommStream *commStream() override { return comms_.get(); }
  runtime::WorkKeeper *keeper() override { return keeper_.get(); }
  bool exchanges() const override { return nccl_ != nullptr; }

private:
  /// Host memory as large as the arenas, of which only what ranks exchange is
  /// ever touched.
  Status openMirror(const DeviceRequest &request) {
    bool shared = std::ranges::any_of(
        request.shared, [](const auto &view) { return view.base != nullptr; });
    if (!shared)
      MTC_RETURN_IF_ERROR(own_.map(request.sizes, request.rank));
    mirror_ = shared ? request.shared : own_.views();
    return Status::okay();
  }

  const Driver &driver_;
  CudaContext context_; ///< goes last
  CudaStream stream_;
  CudaMemory arenaMemory_, workspace_;
  ArenaViews arenas_{}, mirror_{};
  runtime::AnonymousArenas own_;
  CudaCalls calls_;
  std::unique_ptr<StagedCommunicator> staged_;
  std::unique_ptr<NcclCommunicator> nccl_;
  std::unique_ptr<CudaCommStream> comms_;
  std::unique_ptr<CudaKeeper> keeper_;
  bool byNccl_ = false;
  std::string gemmTable_;
  std::vector<runtime::KernelInfo> kernels_;
  Mesh mesh_;
  int rank_ = 0;
};

} // namespace

static Status makeCudaDevice(const DeviceRequest &request,
                             std::unique_ptr<runtime::Device> &out) {
  const Driver *driver = nullptr;
  MTC_RETURN_IF_ERROR(Driver::load(driver));
  auto device = std::make_unique<CudaDevice>(*driver);
  MTC_RETURN_IF_ERROR(device->open(request));
  out = std::move(device);
  return Status::okay();
}

} // namespace mtc::cuda

extern "C" const MtcDeviceFactory mtc_cuda_device = {mtc::cuda::makeCudaDevice};

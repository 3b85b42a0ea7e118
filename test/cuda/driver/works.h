//===- works.h - the kinds of work ------------------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_DRIVER_WORKS_H
#define MTC_TEST_CUDA_DRIVER_WORKS_H

#include "test/cuda/driver/handles.h"
#include "test/cuda/driver/work.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace mtc::standin {

struct KernelWork : Work {
  CUfunction function = nullptr; ///< as a handle only
  std::shared_ptr<LoadedModule> module;
  const ptx::KernelFacts *kernel = nullptr;
  ptx::Extent grid, block;
  unsigned dynamicShared = 0;
  std::vector<std::byte> parameters;
  /// Into `parameters`, for whoever asks a node; made by parameterPointers.
  mutable std::vector<void *> pointers;

  void **parameterPointers() const;

  std::string name() const override { return "kernel " + kernel->name; }
  std::string facts() const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_KERNEL; }
  std::unique_ptr<Work> clone() const override {
    return std::make_unique<KernelWork>(*this);
  }
  Progress run(std::optional<ptx::Fault> &fault) override;
};

/// What the caller of a copy says of a side.
enum class Side { host, device, any };

struct CopyWork : Work {
  uint64_t to = 0, from = 0;
  size_t bytes = 0;
  Side toSide = Side::any, fromSide = Side::any;
  /// Pageable memory is read when the work starts.
  bool fromPageable = false, toPageable = false;
  /// cuMemcpyPeer: the sides may be on any devices.
  bool betweenDevices = false;
  std::vector<std::byte> staged;
  /// Of pinned memory: its bytes, who of the device wrote them last, and how
  /// many host functions have run.
  struct Print {
    uint64_t bytes, writers, hostCalls;
    /// The bytes are others, and neither device nor host function did it.
    bool isOverwritten(const Print &before) const {
      return bytes != before.bytes && writers == before.writers &&
             hostCalls == before.hostCalls;
    }
  };
  std::optional<Print> fromPrint, toPrint; ///< when the work started

  std::string name() const override;
  std::string facts() const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEMCPY; }
  std::unique_ptr<Work> clone() const override {
    return std::make_unique<CopyWork>(*this);
  }
  uint64_t reach() const override {
    return betweenDevices ? ~uint64_t(0) : Work::reach();
  }
  void start() override;
  Progress run(std::optional<ptx::Fault> &fault) override;

private:
  std::optional<Print> fingerprint(uint64_t address) const;
};

struct FillWork : Work {
  uint64_t to = 0;
  unsigned value = 0, elementBytes = 1;
  size_t width = 0, height = 1, pitch = 0;

  std::string name() const override;
  std::string facts() const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEMSET; }
  std::unique_ptr<Work> clone() const override {
    return std::make_unique<FillWork>(*this);
  }
  Progress run(std::optional<ptx::Fault> &fault) override;
};

struct HostWork : Work {
  CUhostFn function = nullptr;
  void *data = nullptr;
  /// The older form; then `function` is null.
  CUstreamCallback callback = nullptr;
  CUstream stream = nullptr;

  std::string name() const override { return "host function"; }
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_HOST; }
  std::unique_ptr<Work> clone() const override {
    return std::make_unique<HostWork>(*this);
  }
  Progress run(std::optional<ptx::Fault> &fault) override;
};

struct EmptyWork : Work {
  std::string name() const override { return "empty node"; }
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_EMPTY; }
  std::unique_ptr<Work> clone() const override {
    return std::make_unique<EmptyWork>(*this);
  }
  Progress run(std::optional<ptx::Fault> &) override { return Progress::done; }
};

/// Nodes of events from outside of the graph; its launch makes points of them.
struct RecordWork : EmptyWork {
  CUevent event = nullptr;
  std::string name() const override { return "record of an event"; }
  CUgraphNodeType type() const override {
    return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  }
  std::unique_ptr<Work> clone() const override {
    return std::make_unique<RecordWork>(*this);
  }
};

struct AwaitWork : EmptyWork {
  CUevent event = nullptr;
  std::string name() const override { return "wait for an event"; }
  CUgraphNodeType type() const override {
    return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  }
  std::unique_ptr<Work> clone() const override {
    return std::make_unique<AwaitWork>(*this);
  }
};

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_WORKS_H

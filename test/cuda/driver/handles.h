//===- handles.h - the objects behind the driver's handles ------*- C++ -*-===//
//
// A handle is the address of its object, and registries know those that live:
// where the real driver crashes on a stale one, this says that it is invalid.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_DRIVER_HANDLES_H
#define MTC_TEST_CUDA_DRIVER_HANDLES_H

#include "test/cuda/driver/cuda_api.h"
#include "test/cuda/driver/schedule.h"
#include "test/cuda/ptx/launch.h"
#include "test/cuda/ptx/module.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace mtc::standin {

struct Capture;

/// Of streams: lower numbers go first.
constexpr int kGreatestPriority = -5, kLeastPriority = 0;

/// The objects of one kind that live. What is destroyed stays allocated as an
/// address that no other object gets.
template <class T> class Registry {
public:
  T *add(std::unique_ptr<T> object) {
    T *raw = object.get();
    live[raw] = std::move(object);
    return raw;
  }
  bool has(const T *handle) const {
    return live.count(const_cast<T *>(handle)) != 0;
  }
  void remove(T *handle) {
    auto node = live.extract(handle);
    *node.mapped() = T(); // what it held goes, its address stays taken
    dead.push_back(std::move(node.mapped()));
  }
  std::vector<T *> all() const {
    std::vector<T *> list;
    for (const auto &[raw, owned] : live)
      list.push_back(raw);
    return list;
  }
  bool empty() const { return live.empty(); }
  size_t size() const { return live.size(); }

private:
  std::map<T *, std::unique_ptr<T>> live;
  std::vector<std::unique_ptr<T>> dead;
};

/// Kernels and variables of a text; works of a graph keep it alive.
struct LoadedModule {
  std::unique_ptr<const ptx::Module> code;
  std::unique_ptr<ptx::Globals> globals;
};

} // namespace mtc::standin

struct CUstream_st {
  CUcontext context = nullptr;
  std::string name; ///< "stream 2", "the legacy stream"
  unsigned number = 0;
  bool blocking = false; ///< ordered with the legacy stream
  int priority = 0;
  mtc::standin::OperationPtr last; ///< null: nothing was issued
  std::shared_ptr<mtc::standin::Capture> capture;
  std::vector<CUgraphNode> heads; ///< in a capture: what comes before the next
};

/// The primary context of a GPU, and what the driver says of that.
struct CUctx_st {
  unsigned device = 0; ///< the GPU by its number among those that are shown
  unsigned gpu = 0;    ///< and among those of the machine
  unsigned capability = 90; ///< of compute capability 9.0
  int mostShared = 0;       ///< bytes of a block
  unsigned flags = 0, retained = 0;
  std::set<CUcontext> peers; ///< whose memory is reached from here, too
  CUstream_st legacy;
  std::map<std::thread::id, std::unique_ptr<CUstream_st>> perThread;
  mtc::standin::OperationPtr lastGraph; ///< its end
  uint64_t operations = 0;              ///< that ran here
};

struct CUevent_st {
  CUcontext context = nullptr;
  unsigned flags = 0;
  mtc::standin::OperationPtr recorded; ///< null: never
  /// Recorded in a capture; null: outside of one.
  std::shared_ptr<mtc::standin::Capture> capture;
  std::vector<CUgraphNode> heads;
};

struct CUfunc_st {
  CUcontext context = nullptr;
  std::shared_ptr<mtc::standin::LoadedModule> module;
  const mtc::ptx::KernelFacts *kernel = nullptr;
  int mostDynamicShared = 0;
};

struct CUmod_st {
  CUcontext context = nullptr;
  std::shared_ptr<mtc::standin::LoadedModule> loaded;
  std::map<std::string, CUfunction> functions;
};

struct CUgraphNode_st {
  CUgraph graph = nullptr;
  std::unique_ptr<mtc::standin::Work> work;
  /// Edges, in the order of the calls.
  std::vector<CUgraphNode> before, after;
  int priority = 0;
  size_t number = 0; ///< how many nodes its graph had been given before
};

struct CUgraph_st {
  std::vector<CUgraphNode> nodes; ///< in the order in which they were made
  size_t made = 0;
};

struct CUgraphExec_st {
  struct Node {
    std::unique_ptr<mtc::standin::Work> work;
    std::vector<size_t> before; ///< places in `nodes`, all smaller
    CUgraphNode origin = nullptr;
    bool enabled = true;
  };
  std::vector<Node> nodes;
  cuuint64_t flags = 0;
  mtc::standin::OperationPtr last; ///< the end of the latest launch
};

#endif // MTC_TEST_CUDA_DRIVER_HANDLES_H

//===- graph_test.cpp - graphs and their instances ------------------------===//
#include "test/cuda/driver/harness.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace mtc::standin::test;

namespace {

/// x += y / 2, captured.
CUgraph oneAxpy(Gpu &gpu, CUdeviceptr x, CUdeviceptr y, int times = 1) {
  CUgraph graph = nullptr;
  MTC_OK(cuStreamBeginCapture(gpu.s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  for (int k = 0; k < times; ++k)
    MTC_OK(gpu.axpy(gpu.s, x, y));
  MTC_OK(cuStreamEndCapture(gpu.s, &graph));
  return graph;
}

std::vector<CUgraphNode> nodesOf(CUgraph graph) {
  size_t count = 0;
  MTC_OK(cuGraphGetNodes(graph, nullptr, &count));
  std::vector<CUgraphNode> nodes(count);
  MTC_OK(cuGraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

TEST(Graph, LaunchesOfOneInstanceAreInOrder) {
  for (bool oneInstance : {true, false}) {
    Outcome outcome = run([oneInstance] {
      Gpu gpu;
      CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
      CUgraph graph = oneAxpy(gpu, x, y);
      CUgraphExec a = instantiate(graph), b = instantiate(graph);
      MTC_OK(cuGraphDestroy(graph));
      MTC_OK(cuGraphLaunch(a, gpu.s));
      MTC_OK(cuGraphLaunch(oneInstance ? a : b, gpu.t));
      MTC_IS(oneInstance ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED,
             cuCtxSynchronize());
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

TEST(Graph, AnInstanceTakesOtherArguments) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1), y = gpu.floats(2), z = gpu.floats(10);
    CUgraph graph = oneAxpy(gpu, x, y);
    CUgraphExec exec = instantiate(graph);
    CUgraphNode node = nodesOf(graph).front();
    CUDA_KERNEL_NODE_PARAMS p{};
    MTC_OK(cuGraphKernelNodeGetParams(node, &p));
    MTC_TRUE(!std::memcmp(p.kernelParams[0], &x, sizeof x));
    MTC_OK(cuGraphLaunch(exec, gpu.s));
    void *others[] = {&x, &z, p.kernelParams[2], p.kernelParams[3]};
    p.kernelParams = others;
    MTC_OK(cuGraphExecKernelNodeSetParams(exec, node, &p));
    MTC_OK(cuGraphLaunch(exec, gpu.s)); // the first one keeps its own
    MTC_OK(cuStreamSynchronize(gpu.s));
    MTC_TRUE(gpu.first(x) == 1 + 1 + 5);
    p.blockDimX = 2048;
    MTC_IS(CUDA_ERROR_INVALID_VALUE,
           cuGraphExecKernelNodeSetParams(exec, node, &p));
    MTC_IS(CUDA_ERROR_INVALID_VALUE,
           cuGraphExecKernelNodeSetParams(exec, nullptr, &p));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Graph, AnUpdateKeepsTheShape) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1), y = gpu.floats(2), z = gpu.floats(10);
    CUgraphExec exec = instantiate(oneAxpy(gpu, x, y));
    CUgraphExecUpdateResultInfo info{};
    MTC_OK(cuGraphExecUpdate(exec, oneAxpy(gpu, x, z), &info));
    MTC_OK(cuGraphLaunch(exec, gpu.s));
    MTC_OK(cuStreamSynchronize(gpu.s));
    MTC_TRUE(gpu.first(x) == 6);
    MTC_IS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
           cuGraphExecUpdate(exec, oneAxpy(gpu, x, z, 2), &info));
    MTC_TRUE(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Graph, PinnedSourcesAreReadByTheLaunch) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(0);
    float *pinned = nullptr;
    CUgraph graph = nullptr;
    MTC_OK(cuMemAllocHost(reinterpret_cast<void **>(&pinned), 4));
    MTC_OK(cuStreamBeginCapture(gpu.s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MTC_OK(cuMemcpyHtoDAsync(x, pinned, 4, gpu.s));
    MTC_OK(cuStreamEndCapture(gpu.s, &graph));
    CUgraphExec exec = instantiate(graph);
    for (float value : {2.0f, 3.0f}) {
      *pinned = value;
      MTC_OK(cuGraphLaunch(exec, gpu.s));
      MTC_OK(cuStreamSynchronize(gpu.s));
      MTC_TRUE(gpu.first(x) == value);
    }
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Graph, NodesOfOnesOwn) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    CUgraph graph = nullptr;
    CUgraphNode fill = nullptr, empty = nullptr, bad = nullptr;
    CUDA_MEMSET_NODE_PARAMS p{};
    p.dst = x;
    p.elementSize = 4;
    p.width = 4;
    p.height = 1;
    MTC_OK(cuGraphCreate(&graph, 0));
    MTC_OK(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &p, nullptr));
    MTC_OK(cuGraphAddEmptyNode(&empty, graph, &fill, 1));
    p.dst = x + 2;
    MTC_IS(CUDA_ERROR_INVALID_VALUE,
           cuGraphAddMemsetNode(&bad, graph, nullptr, 0, &p, nullptr));
    CUgraphExec exec = nullptr;
    MTC_OK(cuGraphAddDependencies(graph, &empty, &fill, nullptr, 1));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, graph, 0));
    MTC_OK(cuGraphRemoveDependencies(graph, &empty, &fill, nullptr, 1));
    exec = instantiate(graph);
    MTC_OK(cuGraphLaunch(exec, gpu.s));
    MTC_OK(cuStreamSynchronize(gpu.s));
    MTC_TRUE(gpu.first(x) == 0);
    MTC_OK(cuGraphDestroy(graph));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
    MTC_OK(cuGraphExecDestroy(exec));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, gpu.s));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Graph, ADumpNamesNodesAndEdges) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
    std::string path =
        (std::filesystem::temp_directory_path() / "mtc_graph_XXXXXX").string();
    MTC_TRUE(mkstemp(path.data()) >= 0);
    MTC_OK(cuGraphDebugDotPrint(oneAxpy(gpu, x, y, 2), path.c_str(), 0));
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    std::filesystem::remove(path);
    MTC_TRUE(text.str().find("kernel axpy") != std::string::npos);
    MTC_TRUE(text.str().find("n0 -> n1") != std::string::npos);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

} // namespace

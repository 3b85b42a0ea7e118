//===- api_module.cpp - modules, functions and global variables -----------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/jit.h"
#include "test/cuda/driver/report.h"

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

using namespace mtc;
using namespace mtc::standin;

namespace {

constexpr int kUsualShared = 49152; ///< without an attribute

/// Of a text that was read.
std::string targetOf(const char *text) {
  static const std::regex line("\\.target\\s+(\\w+)");
  std::cmatch found;
  return std::regex_search(text, found, line) ? found.str(1) : "";
}

CUresult load(CUmodule *module, const void *image, unsigned count,
              CUjit_option *options, void **values) {
  return api(Need::context, [&](Driver &driver, Lock &) -> CUresult {
    if (!module || !image)
      return CUDA_ERROR_INVALID_VALUE;
    JitLog log(count, options, values);
    auto loaded = std::make_shared<LoadedModule>();
    ptx::Rules rules = driver.rules;
    rules.target = Driver::current->capability;
    CUresult result =
        compile(static_cast<const char *>(image), rules, loaded->code, log);
    log.write();
    driver.refusedCubins += result == CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (result != CUDA_SUCCESS)
      return result;
    driver.targets.insert(targetOf(static_cast<const char *>(image)));
    // The real driver waits here, too, unless a stream captures.
    loaded->globals =
        std::make_unique<ptx::Globals>(*loaded->code, driver.memory);
    for (const auto &each : loaded->globals->places())
      if (each.address)
        driver.space.addVariable(
            Driver::current, each.address, each.bytes,
            driver.memory.find(each.address, each.bytes)->host);
    auto made = std::make_unique<CUmod_st>();
    made->context = Driver::current;
    made->loaded = std::move(loaded);
    *module = driver.modules.add(std::move(made));
    return CUDA_SUCCESS;
  });
}

template <class Body> CUresult ofFunction(CUfunction function, Body body) {
  return api(Need::alive, [&](Driver &driver, Lock &) -> CUresult {
    if (!driver.functions.has(function))
      return CUDA_ERROR_INVALID_HANDLE;
    CUresult wrong = driver.checkCurrent(function->context,
                                         "function " + function->kernel->name);
    return wrong ? wrong : body(driver);
  });
}

/// `body(driver, lock)` with a module that lives, of the current context.
template <class Body> CUresult ofModule(CUmodule module, Body body) {
  return api(Need::alive, [&](Driver &driver, Lock &lock) -> CUresult {
    if (!driver.modules.has(module))
      return CUDA_ERROR_INVALID_HANDLE;
    CUresult wrong = driver.checkCurrent(module->context, "a module");
    return wrong ? wrong : body(driver, lock);
  });
}

int mostThreads(const ptx::KernelFacts &kernel) {
  for (const ptx::Extent &each : {kernel.requiredBlock, kernel.largestBlock})
    if (each.x)
      return int(each.x * each.y * each.z);
  return 1024;
}

} // namespace

MTC_API cuModuleLoadData(CUmodule *module, const void *image) {
  return load(module, image, 0, nullptr, nullptr);
}

MTC_API cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                           CUjit_option *options, void **values) {
  return load(module, image, count, options, values);
}

MTC_API cuModuleLoad(CUmodule *module, const char *path) {
  std::ifstream file(path ? path : "");
  if (!file)
    return CUDA_ERROR_FILE_NOT_FOUND;
  std::stringstream text;
  text << file.rdbuf();
  return load(module, text.str().c_str(), 0, nullptr, nullptr);
}

MTC_API cuModuleUnload(CUmodule module) {
  return api(Need::alive, [&](Driver &driver, Lock &lock) {
    if (CUresult wrong = driver.captures.refuseUnsafe())
      return wrong;
    if (!driver.modules.has(module))
      return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult wrong = driver.checkCurrent(module->context, "a module"))
      return wrong;
    if (CUresult wrong = driver.waitAll(module->context, lock, false))
      return wrong;
    for (const auto &[name, function] : module->functions)
      driver.functions.remove(function);
    for (const auto &each : module->loaded->globals->places())
      if (each.address)
        driver.space.removeVariable(each.address);
    driver.modules.remove(module);
    return CUDA_SUCCESS;
  });
}

MTC_API cuModuleGetFunction(CUfunction *function, CUmodule module,
                            const char *name) {
  return ofModule(module, [&](Driver &driver, Lock &) {
    if (!function || !name || !*name)
      return CUDA_ERROR_INVALID_VALUE;
    const ptx::KernelFacts *kernel = module->loaded->code->find(name);
    if (!kernel)
      return CUDA_ERROR_NOT_FOUND;
    CUfunction &known = module->functions[name];
    if (!known) {
      auto made = std::make_unique<CUfunc_st>();
      made->context = module->context;
      made->module = module->loaded;
      made->kernel = kernel;
      made->mostDynamicShared =
          std::max(0, kUsualShared - int(kernel->sharedBytes));
      known = driver.functions.add(std::move(made));
    }
    *function = known;
    return CUDA_SUCCESS;
  });
}

MTC_API cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
  return ofModule(module, [&](Driver &, Lock &) {
    if (!count)
      return CUDA_ERROR_INVALID_VALUE;
    *count = unsigned(module->loaded->code->kernels().size());
    return CUDA_SUCCESS;
  });
}

MTC_API cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module,
                          const char *name) {
  return ofModule(module, [&](Driver &, Lock &) {
    if (!name || module->loaded->code->find(name))
      return CUDA_ERROR_INVALID_VALUE;
    const ptx::Globals::Place *place = module->loaded->globals->find(name);
    if (!place)
      return CUDA_ERROR_NOT_FOUND;
    if (address)
      *address = place->address;
    if (bytes)
      *bytes = place->bytes;
    return CUDA_SUCCESS;
  });
}

MTC_API cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  return api(Need::driver, [&](Driver &, Lock &) {
    const char *asked = std::getenv("CUDA_MODULE_LOADING");
    *mode = asked && std::string(asked) == "EAGER" ? CU_MODULE_EAGER_LOADING
                                                   : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  });
}

MTC_API cuFuncLoad(CUfunction function) {
  return ofFunction(function, [](Driver &) { return CUDA_SUCCESS; });
}

MTC_API cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
  return ofFunction(function, [&](Driver &) {
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  });
}

MTC_API cuFuncGetName(const char **name, CUfunction function) {
  return ofFunction(function, [&](Driver &) {
    *name = function->kernel->name.c_str();
    return CUDA_SUCCESS;
  });
}

MTC_API cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset,
                           size_t *bytes) {
  return ofFunction(function, [&](Driver &) {
    const auto &parameters = function->kernel->parameters;
    if (!offset || index >= parameters.size())
      return CUDA_ERROR_INVALID_VALUE;
    *offset = parameters[index].offset;
    if (bytes)
      *bytes = parameters[index].bytes;
    return CUDA_SUCCESS;
  });
}

MTC_API cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                           CUfunction function) {
  return ofFunction(function, [&](Driver &) {
    const ptx::KernelFacts &kernel = *function->kernel;
    if (!value)
      return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = mostThreads(kernel);
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = int(kernel.sharedBytes);
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = int(kernel.localBytes);
      break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *value = 0;
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: // only ptxas knows
      *value = 32;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = 90;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function->mostDynamicShared;
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = -1;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  });
}

MTC_API cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                           int value) {
  return ofFunction(function, [&](Driver &) {
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
      return value >= -1 && value <= 100 ? CUDA_SUCCESS
                                         : CUDA_ERROR_INVALID_VALUE;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
        value < 0 ||
        value >
            function->context->mostShared - int(function->kernel->sharedBytes))
      return CUDA_ERROR_INVALID_VALUE;
    function->mostDynamicShared = value;
    return CUDA_SUCCESS;
  });
}

MTC_API cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return ofFunction(function, [&](Driver &) {
    return config <= CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_SUCCESS
                                                : CUDA_ERROR_INVALID_VALUE;
  });
}

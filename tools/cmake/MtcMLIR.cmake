# MLIR and LLVM 22 from the distribution, as shared libraries.
find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "expected MLIR/LLVM 22, found ${LLVM_VERSION}; install libmlir-22-dev")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# LLD, static archives on top of the same shared LLVM; they compress with zlib and zstd.
find_library(MTC_LLD_ELF lldELF HINTS ${LLVM_LIBRARY_DIR} REQUIRED)
find_library(MTC_LLD_COMMON lldCommon HINTS ${LLVM_LIBRARY_DIR} REQUIRED)
find_package(ZLIB REQUIRED)
find_library(MTC_ZSTD zstd REQUIRED)
set(MTC_LLD_LIBRARIES ${MTC_LLD_ELF} ${MTC_LLD_COMMON} LLVM ZLIB::ZLIB ${MTC_ZSTD})

# MLIR and LLVM 22 from the distribution.
find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "expected MLIR/LLVM 22, found ${LLVM_VERSION}; install libmlir-22-dev")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_package(ZLIB REQUIRED)
find_library(MTC_ZSTD zstd REQUIRED)
# LLD, archives everywhere; they compress with zlib and zstd.
find_library(MTC_LLD_ELF lldELF HINTS ${LLVM_LIBRARY_DIR} REQUIRED)
find_library(MTC_LLD_COMMON lldCommon HINTS ${LLVM_LIBRARY_DIR} REQUIRED)

# MLIR and LLVM are shared libraries for most. Executables that start often (MTC_BIND_ARCHIVES) have
# them as archives, as far as they need them: the loader has nothing to bind then.
add_library(mtc_llvm_shared INTERFACE)
target_link_libraries(mtc_llvm_shared INTERFACE MLIR LLVM)
set(archives ${MTC_LLD_ELF} ${MTC_LLD_COMMON})
get_property(libraries GLOBAL PROPERTY MLIR_ALL_LIBS)
foreach(library IN LISTS libraries LLVM_AVAILABLE_LIBS)
  if(EXISTS ${LLVM_LIBRARY_DIR}/lib${library}.a) # those of tests are in no package
    list(APPEND archives ${LLVM_LIBRARY_DIR}/lib${library}.a)
  endif()
endforeach()
set(MTC_HAVE_LLVM_ARCHIVES ON)
if(NOT EXISTS ${LLVM_LIBRARY_DIR}/libMLIRIR.a OR NOT EXISTS ${LLVM_LIBRARY_DIR}/libLLVMCore.a)
  message(STATUS "no archives of MLIR and LLVM here: mtc gets the shared libraries and starts 25 ms later")
  set(MTC_HAVE_LLVM_ARCHIVES OFF)
elseif(MTC_SANITIZE) # with which archives were never tried
  set(MTC_HAVE_LLVM_ARCHIVES OFF)
endif()
list(JOIN archives "," archives)
add_library(mtc_llvm_archives INTERFACE)
target_link_libraries(mtc_llvm_archives INTERFACE
  "$<LINK_GROUP:RESCAN,${archives},mtc_no_polly>" ZLIB::ZLIB ${MTC_ZSTD} ${CMAKE_DL_LIBS})
# Addresses are those of the link. LLD links all this in one second, others take seven.
target_link_options(mtc_llvm_archives INTERFACE -no-pie -Wl,--gc-sections)
find_program(MTC_FAST_LINKER ld.lld HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
if(MTC_FAST_LINKER)
  target_link_options(mtc_llvm_archives INTERFACE -fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR})
endif()
add_library(mtc_llvm INTERFACE)
target_link_libraries(mtc_llvm INTERFACE
  $<IF:$<BOOL:$<TARGET_PROPERTY:MTC_BIND_ARCHIVES>>,mtc_llvm_archives,mtc_llvm_shared>)
add_library(mtc_lld INTERFACE)
target_link_libraries(mtc_lld INTERFACE
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:MTC_BIND_ARCHIVES>>>:${MTC_LLD_ELF}$<SEMICOLON>${MTC_LLD_COMMON}> mtc_llvm ZLIB::ZLIB ${MTC_ZSTD})

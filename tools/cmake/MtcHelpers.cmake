# oneDNN. Its own package file insists on OpenCL development files that the CPU
# engine does not need, so the library is found by name.
find_library(MTC_DNNL_LIBRARY dnnl REQUIRED)
add_library(DNNL::dnnl UNKNOWN IMPORTED GLOBAL)
set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${MTC_DNNL_LIBRARY})
# The OpenMP runtime that Debian's oneDNN has its threads from, whatever compiler builds mtc.
find_library(MTC_OPENMP_LIBRARY NAMES libgomp.so.1 REQUIRED)

# mtc_test(NAME SOURCES... LIBS ... [WRAPPER COMMAND...]): one GoogleTest executable, one CTest case,
# run through the wrapper, if there is one.
function(mtc_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;WRAPPER" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${MTC_NOT_HOT})
  target_compile_definitions(${name} PRIVATE
    MTC_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/test/golden"
    MTC_BIN_DIR="${PROJECT_BINARY_DIR}/bin")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
  add_test(NAME ${name} COMMAND ${ARG_WRAPPER} $<TARGET_FILE:${name}>)
  set_tests_properties(${name} PROPERTIES LABELS unit)
endfunction()

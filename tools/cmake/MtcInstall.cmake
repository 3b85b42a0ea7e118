# What `cmake --install` and `cpack -G DEB` put where. mtc finds its files beside the folder
# of its executable, so lib/mtc and share/mtc are not renamed to a distribution's habits.
install(TARGETS mtc mtc-node mtc-opt RUNTIME DESTINATION bin)
if(TARGET mtc-lsp-server)
  install(TARGETS mtc-lsp-server RUNTIME DESTINATION bin)
endif()

# What programs are linked with, and the launcher for others' executables.
install(DIRECTORY ${MTC_LINK_FOLDER} DESTINATION lib/mtc)
install(TARGETS mtc_control mtc_comm_mpi mtc_rendezvous ARCHIVE DESTINATION lib/mtc)

install(DIRECTORY ${PROJECT_BINARY_DIR}/share/mtc DESTINATION share)
install(DIRECTORY ${MTC_PAGES}/ DESTINATION share)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/doc/mtc)
install(FILES README.md CONTRIBUTING.md LICENSE DESTINATION share/doc/mtc)
# Where Debian looks for the licence.
install(FILES LICENSE DESTINATION share/doc/mtc RENAME copyright)

# The runtime's public headers, and the package that finds them.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/mtc DESTINATION include)
include(CMakePackageConfigHelpers)
file(REAL_PATH ${MTC_DNNL_LIBRARY} dnnl)
string(REGEX MATCH "libdnnl\\.so\\.[0-9]+" MTC_DNNL_SONAME ${dnnl})
configure_file(${CMAKE_CURRENT_LIST_DIR}/mtcConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/mtcConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/mtcConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/mtcConfig.cmake ${PROJECT_BINARY_DIR}/cmake/mtcConfigVersion.cmake
  DESTINATION lib/cmake/mtc)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mtc)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The authors of mtc <mtc@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler and runtime for training transformers in parallel")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# The packages of all shared libraries that executables ask for, with their versions. What
# compiled programs ask for is among them: they are linked with the libraries of mtc.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)

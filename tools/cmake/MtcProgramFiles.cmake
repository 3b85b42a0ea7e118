# What compiled programs are linked with, in MTC_LINK_FOLDER. The lists of compiler/link say
# in which order.

# mtc_copy_compiler_file(NAME): a file of the compiler or of the C library.
function(mtc_copy_compiler_file name)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${name}
    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT IS_ABSOLUTE "${path}")
    message(FATAL_ERROR "expected ${CMAKE_CXX_COMPILER} to have the file ${name}, found none")
  endif()
  file(REAL_PATH "${path}" path)
  configure_file(${path} ${MTC_LINK_FOLDER}/${name} COPYONLY)
endfunction()

foreach(list executable.txt shared.txt)
  configure_file(${PROJECT_SOURCE_DIR}/compiler/link/${list} ${MTC_LINK_FOLDER}/${list} @ONLY)
endforeach()
set(MTC_PROGRAM_LIBRARIES)
file(STRINGS ${MTC_LINK_FOLDER}/executable.txt items REGEX "^file ")
foreach(item IN LISTS items)
  string(REPLACE "file " "" name ${item})
  if(name MATCHES "^lib(mtc_.*)\\.a$")
    list(APPEND MTC_PROGRAM_LIBRARIES ${CMAKE_MATCH_1})
  else()
    mtc_copy_compiler_file(${name})
  endif()
endforeach()

add_custom_target(mtc_program_files ALL)
foreach(library IN LISTS MTC_PROGRAM_LIBRARIES)
  set_target_properties(${library} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${MTC_LINK_FOLDER})
  add_dependencies(mtc_program_files ${library})
endforeach()

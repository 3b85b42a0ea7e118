# Builds for tools/sanitize. MTC_SANITIZE has what -fsanitize= takes, for example
# address,undefined; empty, as in every other build, this file does nothing.
set(MTC_SANITIZE "" CACHE STRING "Sanitizers to build with, separated by commas")
# Factor of the tests' time limits: Thread Sanitizer makes the slowest ones about eight
# times slower.
set(MTC_TIMEOUT_FACTOR 1)
# What compiled programs are linked with before all else, as lines of
# compiler/link/executable.txt: the archives of an instrumented build need the libraries
# of GCC's sanitizers, and the one of addresses or threads must be the first.
set(MTC_PROGRAM_LINK_ITEMS "")
if(MTC_SANITIZE)
  set(MTC_TIMEOUT_FACTOR 8)
  set(library_of_address asan)
  set(library_of_thread tsan)
  set(library_of_undefined ubsan)
  string(REPLACE "," ";" sanitizers ${MTC_SANITIZE})
  foreach(sanitizer IN LISTS sanitizers)
    set(library ${library_of_${sanitizer}})
    if(NOT library STREQUAL "ubsan")
      string(APPEND MTC_PROGRAM_LINK_ITEMS "file lib${library}_preinit.o\n")
    endif()
    string(APPEND MTC_PROGRAM_LINK_ITEMS "library lib${library}.so\n")
  endforeach()
  # The first report ends the program, for undefined behaviour, too.
  add_compile_options(-fsanitize=${MTC_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MTC_SANITIZE})
endif()

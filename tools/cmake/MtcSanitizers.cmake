# Builds for tools/sanitize. MTC_SANITIZE has what -fsanitize= takes, for example
# address,undefined; empty, as in every other build, this file does nothing.
set(MTC_SANITIZE "" CACHE STRING "Sanitizers to build with, separated by commas")
# Factor of the tests' time limits: Thread Sanitizer makes the slowest ones about eight
# times slower.
set(MTC_TIMEOUT_FACTOR 1)
# What compiled programs are linked with beside the lines of compiler/link.txt: the
# archives of an instrumented build need the sanitizers' libraries.
set(MTC_PROGRAM_LINK_OPTIONS "")
if(MTC_SANITIZE)
  set(MTC_TIMEOUT_FACTOR 8)
  set(MTC_PROGRAM_LINK_OPTIONS "-fsanitize=${MTC_SANITIZE}\n")
  # The first report ends the program, for undefined behaviour, too.
  add_compile_options(-fsanitize=${MTC_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MTC_SANITIZE})
endif()

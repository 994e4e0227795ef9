# Flags shared by all targets, as one interface library: opdrift_flags.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(OPDRIFT_CCACHE ccache)
if(OPDRIFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${OPDRIFT_CCACHE})
endif()

add_library(opdrift_flags INTERFACE)
target_include_directories(opdrift_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(opdrift_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wdouble-promotion
  # Options structs are filled by designated initialisers; what is left out has a default.
  -Wno-missing-field-initializers
  $<$<BOOL:${OPDRIFT_WERROR}>:-Werror>)
# g++ 12 reports impossible overlaps inside std::string (GCC bug 105651).
target_compile_options(opdrift_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Results must not depend on contraction or reordering chosen by a compiler.
target_compile_options(opdrift_flags INTERFACE -ffp-contract=off)

if(OPDRIFT_SANITIZE)
  target_compile_options(opdrift_flags INTERFACE
    -fsanitize=${OPDRIFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(opdrift_flags INTERFACE -fsanitize=${OPDRIFT_SANITIZE})
endif()

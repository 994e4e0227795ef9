# opdrift_room(NAME SOURCES a.cpp ... HEADERS a.hpp ... USES base tensor ... LIBRARIES fmt::fmt ...)
# One static library per room; USES names the rooms it may include (tools/check_layers.py).
function(opdrift_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;HEADERS;USES;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  add_library(opdrift_${name} STATIC ${ROOM_SOURCES})
  add_library(opdrift::${name} ALIAS opdrift_${name})
  target_sources(opdrift_${name} PUBLIC FILE_SET HEADERS
                 BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${ROOM_HEADERS})
  target_link_libraries(opdrift_${name} PUBLIC opdrift_flags)
  foreach(used ${ROOM_USES})
    target_link_libraries(opdrift_${name} PUBLIC opdrift_${used})
  endforeach()
  target_link_libraries(opdrift_${name} PUBLIC ${ROOM_LIBRARIES} PRIVATE ${ROOM_PRIVATE_LIBRARIES})
endfunction()

# opdrift_test(ROOM SOURCES a_test.cpp ... [USES rooms...] [FIXTURES] [EXECUTABLE]): one GoogleTest
# program and one ctest entry per room. EXECUTABLE tells that the tests run the opdrift command. With FIXTURES a second entry runs it on the bundled recorded cases; the
# first one uses those in OPDRIFT_SHARED.
function(opdrift_test name)
  cmake_parse_arguments(TEST "FIXTURES;EXECUTABLE" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  add_executable(test_${name} ${TEST_SOURCES})
  target_link_libraries(test_${name} PRIVATE opdrift_flags ${TEST_LIBRARIES} GTest::gtest_main
                                             GTest::gmock)
  foreach(used ${TEST_USES})
    target_link_libraries(test_${name} PRIVATE opdrift_${used})
  endforeach()
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(test_${name} PRIVATE
    OPDRIFT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    OPDRIFT_BINARY="$<$<TARGET_EXISTS:opdrift>:$<TARGET_FILE:opdrift>>")
  if(TEST_EXECUTABLE AND TARGET opdrift)
    add_dependencies(test_${name} opdrift)
  endif()
  set(results ${CMAKE_BINARY_DIR}/test-results)
  add_test(NAME ${name} COMMAND test_${name} --gtest_output=xml:${results}/${name}.xml)
  set_tests_properties(${name} PROPERTIES LABELS unit)
  if(TEST_FIXTURES)
    add_test(NAME ${name}_bundled
             COMMAND test_${name} --gtest_output=xml:${results}/${name}_bundled.xml)
    set_tests_properties(${name}_bundled PROPERTIES
      LABELS bundled ENVIRONMENT "OPDRIFT_SHARED=${PROJECT_SOURCE_DIR}/tests/golden")
  endif()
endfunction()

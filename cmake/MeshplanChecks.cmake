# Gates on the source tree, as tests: include rules, format, and the tests of the checkers themselves.
if(MESHPLAN_PYTHON)
  set(MESHPLAN_CHECK_PYTHON ${MESHPLAN_PYTHON})
else()
  find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
  set(MESHPLAN_CHECK_PYTHON ${Python3_EXECUTABLE})
endif()

add_test(NAME layers COMMAND ${MESHPLAN_CHECK_PYTHON} ${CMAKE_SOURCE_DIR}/tools/check_layers.py)
add_test(NAME layers-test COMMAND ${MESHPLAN_CHECK_PYTHON} ${CMAKE_SOURCE_DIR}/tools/check_layers_test.py)
add_test(NAME format COMMAND ${CMAKE_SOURCE_DIR}/tools/check_format)
set_tests_properties(format PROPERTIES ENVIRONMENT "MESHPLAN_PYTHON=${MESHPLAN_CHECK_PYTHON}")
add_test(NAME tidy COMMAND ${CMAKE_SOURCE_DIR}/tools/check_tidy --build ${CMAKE_BINARY_DIR})
set_tests_properties(tidy PROPERTIES LABELS long)

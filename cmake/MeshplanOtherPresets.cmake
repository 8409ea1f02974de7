# Tests that build another preset, in its own folder beside this one, and run tests there. Only in the preset dev.
if(NOT MESHPLAN_OTHER_PRESETS)
  return()
endif()

cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)

# meshplan_preset_test(NAME name BUILD fixture [LONG] COMMAND ...): runs after the build of the fixture.
function(meshplan_preset_test)
  cmake_parse_arguments(ARG "LONG" "NAME;BUILD;TIMEOUT;PROCESSORS" "COMMAND" ${ARGN})
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_COMMAND})
  set_tests_properties(${ARG_NAME} PROPERTIES FIXTURES_REQUIRED ${ARG_BUILD} TIMEOUT ${ARG_TIMEOUT}
    PROCESSORS ${ARG_PROCESSORS})
  if(ARG_LONG)
    set_tests_properties(${ARG_NAME} PROPERTIES LABELS long)
  endif()
endfunction()

# meshplan_preset_build(preset [LONG]): adds the test build-<preset>, and a CTest fixture of that name.
function(meshplan_preset_build preset)
  cmake_parse_arguments(ARG "LONG" "" "" ${ARGN})
  add_test(NAME build-${preset} COMMAND ${CMAKE_SOURCE_DIR}/tools/setup --preset ${preset})
  # A build uses all processors.
  set_tests_properties(build-${preset} PROPERTIES FIXTURES_SETUP build-${preset} TIMEOUT 7200 RUN_SERIAL ON)
  if(ARG_LONG)
    set_tests_properties(build-${preset} PROPERTIES LABELS long)
  endif()
endfunction()

# Fuzzing of files that users or other tools write: seconds in every run, minutes in the long one.
meshplan_preset_build(fuzz)
foreach(target plan foreign archive tensors artifact megatron)
  meshplan_preset_test(NAME fuzz-${target} BUILD build-fuzz TIMEOUT 300 PROCESSORS 1
    COMMAND ${CMAKE_SOURCE_DIR}/tools/fuzz --no-build --seconds 10 ${target})
  meshplan_preset_test(NAME fuzz-${target}-long BUILD build-fuzz TIMEOUT 900 PROCESSORS 1 LONG
    COMMAND ${CMAKE_SOURCE_DIR}/tools/fuzz --no-build --keep --seconds 300 ${target})
endforeach()

# Whole builds under a sanitizer.
foreach(preset tsan asan)
  meshplan_preset_build(${preset} LONG)
  meshplan_preset_test(NAME ${preset} BUILD build-${preset} TIMEOUT 7200 PROCESSORS ${processors} LONG
    COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${CMAKE_SOURCE_DIR}/build-${preset} --output-on-failure -j ${processors}
            -LE "gpu|long")
endforeach()

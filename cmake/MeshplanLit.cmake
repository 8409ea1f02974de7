# lit tests: one CTest entry for each area of test/, named lit-<area>. Files under test/<area>/long/ form
# lit-<area>-long, which has the label `long`.
find_program(MESHPLAN_LIT lit PATHS ${LLVM_TOOLS_BINARY_DIR} /usr/lib/llvm-22/bin REQUIRED)
if(NOT LLVM_TOOLS_BINARY_DIR)
  get_filename_component(LLVM_TOOLS_BINARY_DIR ${MESHPLAN_LIT} DIRECTORY)
endif()
configure_file(${CMAKE_SOURCE_DIR}/test/lit.site.cfg.py.in ${CMAKE_BINARY_DIR}/test/lit.site.cfg.py @ONLY)
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)

function(meshplan_lit_area area)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/test/${area}/*.mlir ${CMAKE_SOURCE_DIR}/test/${area}/*.test ${CMAKE_SOURCE_DIR}/test/${area}/*.plan)
  list(FILTER files EXCLUDE REGEX "/Inputs/")
  set(long_files ${files})
  list(FILTER long_files INCLUDE REGEX "/${area}/long/")
  list(FILTER files EXCLUDE REGEX "/${area}/long/")
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/test/${area}/long)
  if(files)
    add_test(NAME lit-${area} COMMAND ${MESHPLAN_LIT} -v -j ${processors} ${CMAKE_BINARY_DIR}/test/${area})
    set_tests_properties(lit-${area} PROPERTIES PROCESSORS ${processors})
  endif()
  if(long_files)
    add_test(NAME lit-${area}-long
      COMMAND ${MESHPLAN_LIT} -v -j ${processors} --param long=1 ${CMAKE_BINARY_DIR}/test/${area}/long)
    set_tests_properties(lit-${area}-long PROPERTIES PROCESSORS ${processors} LABELS long)
  endif()
endfunction()

foreach(area dialect frontend transforms scheduling target driver e2e)
  meshplan_lit_area(${area})
endforeach()

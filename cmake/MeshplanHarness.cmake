# MESHPLAN_CHECK_PYTHON: for what needs no package. MESHPLAN_HARNESS: starts a command of test/harness, whose name follows;
# most commands need PyTorch, and are declared only where MESHPLAN_PYTHON says whose environment has it.
if(MESHPLAN_PYTHON)
  set(MESHPLAN_CHECK_PYTHON ${MESHPLAN_PYTHON})
else()
  find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
  set(MESHPLAN_CHECK_PYTHON ${Python3_EXECUTABLE})
endif()
set(MESHPLAN_HARNESS ${MESHPLAN_CHECK_PYTHON} ${CMAKE_SOURCE_DIR}/test/harness)

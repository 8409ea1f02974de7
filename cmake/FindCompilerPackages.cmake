# Libraries of the compiler: MLIR and LLVM, the ANTLR runtime, libzip, CLI11.
list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR REQUIRED CONFIG)
# Programs link the LLVM archives that they call instead of libLLVM.so with its 150 MB: they start in half the time and
# run where LLVM is not installed. Shared libraries link libLLVM.so, as libMLIR.so does.
add_library(meshplan-llvm INTERFACE)
if(BUILD_SHARED_LIBS)
  target_link_libraries(meshplan-llvm INTERFACE LLVM)
else()
  find_package(ZLIB REQUIRED)
  find_library(ZSTD_LIBRARY NAMES zstd libzstd.so.1 REQUIRED)
  foreach(part Remarks BitstreamReader Support Demangle)
    target_link_libraries(meshplan-llvm INTERFACE ${LLVM_LIBRARY_DIR}/libLLVM${part}.a)
  endforeach()
  target_link_libraries(meshplan-llvm INTERFACE ZLIB::ZLIB ${ZSTD_LIBRARY})
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  list(FILTER targets INCLUDE REGEX "^MLIR")
  foreach(target ${targets})
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    list(TRANSFORM libraries REPLACE "^LLVM$" meshplan-llvm)
    set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES ${libraries})
  endforeach()
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
find_package(CLI11 REQUIRED CONFIG)
find_path(ANTLR4_INCLUDE_DIR antlr4-runtime.h PATH_SUFFIXES antlr4-runtime REQUIRED)
find_library(ANTLR4_LIBRARY antlr4-runtime REQUIRED)
find_program(ANTLR4_TOOL antlr4 REQUIRED)

add_library(meshplan-mlir-headers INTERFACE)
target_include_directories(meshplan-mlir-headers SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/mlir_pch.cpp CONTENT "")
add_library(meshplan-mlir-pch OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/generated/mlir_pch.cpp)
target_link_libraries(meshplan-mlir-pch PRIVATE meshplan-mlir-headers)
target_compile_options(meshplan-mlir-pch PRIVATE ${MESHPLAN_WARNINGS})
target_precompile_headers(meshplan-mlir-pch PRIVATE
  <mlir/Bytecode/BytecodeOpInterface.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/IR/Builders.h>
  <mlir/IR/BuiltinAttributes.h> <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/Dialect.h>
  <mlir/IR/DialectImplementation.h> <mlir/IR/OpImplementation.h> <mlir/IR/TensorEncoding.h>
  <mlir/Interfaces/SideEffectInterfaces.h> <mlir/Pass/Pass.h> <map> <string> <vector>)

# meshplan_tablegen(name room  td output flags... td output flags...)
#
# Runs mlir-tblgen for each triple (definition file, output file, flags) into build/generated/<room>. The target
# meshplan-<name>-tablegen depends on all outputs.
function(meshplan_tablegen name room)
  set(directory ${CMAKE_BINARY_DIR}/generated/${room})
  file(MAKE_DIRECTORY ${directory})
  file(GLOB_RECURSE definitions CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/dialect/*.td ${CMAKE_SOURCE_DIR}/compiler/*.td)
  set(outputs)
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest source output)
    set(flags)
    while(rest)
      list(GET rest 0 next)
      if(NOT next MATCHES "^-")
        break()
      endif()
      list(POP_FRONT rest)
      list(APPEND flags ${next})
    endwhile()
    add_custom_command(OUTPUT ${directory}/${output}
      COMMAND /usr/lib/llvm-22/bin/mlir-tblgen ${flags} -I ${CMAKE_SOURCE_DIR} -I ${LLVM_INCLUDE_DIRS}
              ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${directory}/${output} --write-if-changed
      DEPENDS ${definitions} COMMENT "mlir-tblgen ${room}/${output}")
    list(APPEND outputs ${directory}/${output})
  endwhile()
  add_custom_target(meshplan-${name}-tablegen DEPENDS ${outputs})
endfunction()

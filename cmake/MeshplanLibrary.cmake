# meshplan_library(NAME name SRCS a.cpp ... DEPS target ...)
# meshplan_program(NAME name SRCS a.cpp ... DEPS target ...)  a program in bin/, installed
# meshplan_test(NAME name SRCS a.cpp ... DEPS target ...)     a gtest binary, registered with CTest
#   PROCESSES n   started n times by mpirun, which may be missing: then the test is skipped
#   LAUNCH name   started by this command of test/harness instead
#   MPIRUN flags  for mpirun itself
#
# A build without some rooms (MESHPLAN_COMPILER, MESHPLAN_RUNTIME or MESHPLAN_TORCH off) also leaves out their tests.
#
# Every include path starts at the top of the tree, so that an #include names the room it comes from.

# The headers of libstdc++ 12 use what they declare deprecated, which clang reports where a template is instantiated.
set(MESHPLAN_WARNINGS -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND MESHPLAN_WARNINGS -Wno-deprecated-declarations)
  # LibTorch, MLIR and LLVM are built by g++, whose names of constrained templates clang 18 and newer do not use. A
  # time in precompiled headers would keep ccache from finding what uses them.
  add_compile_options(-fclang-abi-compat=17 "SHELL:-Xclang -fno-pch-timestamp")
else()
  # g++ 12 warns about its own std::string concatenation (-Wrestrict, GCC bug 105651) and, when it optimizes, about
  # llvm::SmallVector, and about copies in strings and in xxhash on paths that are never taken. In a unity build it
  # treats sources like headers, whose types must not use types of unnamed namespaces (-Wsubobject-linkage).
  list(APPEND MESHPLAN_WARNINGS -Wno-restrict -Wno-maybe-uninitialized
       $<$<BOOL:${MESHPLAN_UNITY}>:-Wno-subobject-linkage>
       $<$<CONFIG:Release>:-Wno-stringop-overflow> $<$<CONFIG:Release>:-Wno-array-bounds>)
endif()
if(MESHPLAN_WERROR)
  list(APPEND MESHPLAN_WARNINGS -Werror)
endif()

# With shared libraries, each of ours would contain its own copy of the static MLIR libraries, and MLIR's type ids would
# differ between them. All of them link the one libMLIR.so instead.
function(meshplan_link_names result)
  set(names ${ARGN})
  if(BUILD_SHARED_LIBS)
    list(TRANSFORM names REPLACE "^MLIR.*" "MLIR;LLVM")
    list(REMOVE_DUPLICATES names)
  endif()
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# Unity build: the sources of one library, program or test are compiled in batches, because a small file spends most of
# its compile time in headers. Names at file scope must therefore be unique within a target. The batch size is a
# compromise: a change of one source recompiles its batch, in about ten seconds.
function(meshplan_compile_together name batch)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${MESHPLAN_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

function(meshplan_target_defaults name)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/generated>)
  target_compile_options(${name} PRIVATE ${MESHPLAN_WARNINGS})
endfunction()

# Targets that include MLIR's headers share one precompiled header: those headers are nine tenths of the compile time of
# a small file.
function(meshplan_precompile name)
  if(TARGET meshplan-mlir-pch AND NOT BUILD_SHARED_LIBS AND "${ARGN}" MATCHES "MLIR|base-dialect|plan-dialect|sched-dialect|sharding|transforms")
    target_link_libraries(${name} PRIVATE meshplan-mlir-headers)
    target_precompile_headers(${name} REUSE_FROM meshplan-mlir-pch)
  endif()
endfunction()

# Where an installed program or library looks for libraries: beside itself for ours, and at their build-time path for
# those that the loader does not find (libMLIR.so).
function(meshplan_install_path name directory)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH ${directory} INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()

function(meshplan_library)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS" ${ARGN})
  meshplan_link_names(ARG_DEPS ${ARG_DEPS})
  if(ARG_SRCS)
    add_library(${ARG_NAME} ${ARG_SRCS})
    meshplan_target_defaults(${ARG_NAME})
    meshplan_compile_together(${ARG_NAME} 16)
    target_link_libraries(${ARG_NAME} PUBLIC ${ARG_DEPS})
    meshplan_precompile(${ARG_NAME} ${ARG_DEPS})
    if(BUILD_SHARED_LIBS)
      meshplan_install_path(${ARG_NAME} "\$ORIGIN")
      install(TARGETS ${ARG_NAME} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
  else()
    add_library(${ARG_NAME} INTERFACE)
    target_include_directories(${ARG_NAME} INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
    target_link_libraries(${ARG_NAME} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

# Options of the address sanitizer that every executable of the build needs.
function(meshplan_sanitizer_options target)
  if(MESHPLAN_ASAN)
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/asan_options.cpp)
  endif()
endfunction()

function(meshplan_program)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS" ${ARGN})
  meshplan_link_names(ARG_DEPS ${ARG_DEPS})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  meshplan_target_defaults(${ARG_NAME})
  meshplan_compile_together(${ARG_NAME} 16)
  target_compile_definitions(${ARG_NAME} PRIVATE MESHPLAN_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS})
  meshplan_precompile(${ARG_NAME} ${ARG_DEPS})
  meshplan_sanitizer_options(${ARG_NAME})
  meshplan_install_path(${ARG_NAME} "\$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS ${ARG_NAME} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

function(meshplan_test)
  cmake_parse_arguments(ARG "" "NAME;PROCESSES;LAUNCH" "SRCS;DEPS;MPIRUN" ${ARGN})
  if(NOT (MESHPLAN_COMPILER AND MESHPLAN_RUNTIME AND MESHPLAN_TORCH))
    foreach(dep ${ARG_DEPS})
      if(dep MATCHES "^meshplan-" AND NOT TARGET ${dep})
        return()
      endif()
    endforeach()
  endif()
  meshplan_link_names(ARG_DEPS ${ARG_DEPS})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  meshplan_target_defaults(${ARG_NAME})
  meshplan_compile_together(${ARG_NAME} 10)
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  meshplan_precompile(${ARG_NAME} ${ARG_DEPS})
  meshplan_sanitizer_options(${ARG_NAME})
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  if(ARG_PROCESSES)
    list(TRANSFORM ARG_MPIRUN PREPEND --mpirun=)
    if(NOT ARG_LAUNCH)
      set(ARG_LAUNCH run_mpi)
    endif()
    add_test(NAME ${ARG_NAME} COMMAND ${MESHPLAN_HARNESS} ${ARG_LAUNCH} ${ARG_PROCESSES} ${ARG_MPIRUN} -- $<TARGET_FILE:${ARG_NAME}>)
    set_tests_properties(${ARG_NAME} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 PROCESSORS 2
      # Open MPI does not free memory of plugins that it has closed.
      ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
  else()
    add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME})
  endif()
endfunction()

# Adds the rooms that have a CMakeLists.txt.
function(meshplan_add_rooms)
  foreach(room ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/CMakeLists.txt)
      add_subdirectory(${room})
    endif()
  endforeach()
endfunction()

# Leaves rooms out of the target `all`; parts that other targets need are still built.
function(meshplan_exclude_rooms)
  foreach(room ${ARGN})
    get_property(directories DIRECTORY PROPERTY SUBDIRECTORIES)
    if("${CMAKE_CURRENT_SOURCE_DIR}/${room}" IN_LIST directories)
      set_property(DIRECTORY ${room} PROPERTY EXCLUDE_FROM_ALL ON)
    endif()
  endforeach()
endfunction()

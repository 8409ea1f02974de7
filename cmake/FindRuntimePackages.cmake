# Libraries of the runtime: LibTorch from the wheel of the Python environment, CLI11, fmt, nlohmann-json, protozero,
# libzip, zlib and ISA-L.
#
# The wheel's own CMake package requires a CUDA toolkit, so the target is built from the wheel's headers and libraries.
find_package(CLI11 REQUIRED CONFIG)
# Used header-only.
find_path(FMT_INCLUDE_DIR fmt/format.h REQUIRED)
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_writer.hpp REQUIRED)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(Threads REQUIRED)
# Linked statically: a wheel would take libz.so from the machine that it is installed on, which may be too old.
find_package(ZLIB REQUIRED)
find_library(ZLIB_ARCHIVE libz.a)
add_library(zlib INTERFACE)
target_include_directories(zlib SYSTEM INTERFACE ${ZLIB_INCLUDE_DIRS})
if(ZLIB_ARCHIVE AND NOT BUILD_SHARED_LIBS)
  target_link_libraries(zlib INTERFACE ${ZLIB_ARCHIVE})
else()
  target_link_libraries(zlib INTERFACE ${ZLIB_LIBRARIES})
endif()
find_path(ISAL_INCLUDE_DIR isa-l/crc.h REQUIRED)
find_library(ISAL_LIBRARY isal REQUIRED)
add_library(isal INTERFACE)
target_include_directories(isal SYSTEM INTERFACE ${ISAL_INCLUDE_DIR})
target_link_libraries(isal INTERFACE ${ISAL_LIBRARY})

# The headers of MPI, if they are installed, for runtime/comm/mpi. The library is not linked: a program that an MPI
# launcher has started opens it by name, from the folder that is added here.
find_package(MPI COMPONENTS C)
if(MPI_C_FOUND AND MPI_C_LIBRARIES)
  add_library(meshplan-mpi-headers INTERFACE)
  target_include_directories(meshplan-mpi-headers SYSTEM INTERFACE ${MPI_C_INCLUDE_DIRS})
  # Open MPI's header would otherwise include the C++ binding, which is not linked.
  target_compile_definitions(meshplan-mpi-headers INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  list(GET MPI_C_LIBRARIES 0 library)
  cmake_path(GET library PARENT_PATH directory)
  target_link_directories(meshplan-mpi-headers INTERFACE ${directory})
endif()

# The headers of NCCL and CUDA, from the wheels beside LibTorch (crt and cccl have their own), for runtime/comm/nccl.
# The libraries are not linked: a run that needs them opens them by name, from the folders that are added here.
if(MESHPLAN_PYTHON)
  execute_process(COMMAND ${MESHPLAN_PYTHON} -c "import importlib.util as u; print(u.find_spec('nvidia').submodule_search_locations[0])"
    OUTPUT_VARIABLE MESHPLAN_NVIDIA_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(EXISTS "${MESHPLAN_NVIDIA_DIR}/nccl/include/nccl.h" AND EXISTS "${MESHPLAN_NVIDIA_DIR}/cu13/include/crt/host_defines.h"
   AND EXISTS "${MESHPLAN_NVIDIA_DIR}/cu13/include/nv/target")
  add_library(meshplan-nccl-headers INTERFACE)
  target_include_directories(meshplan-nccl-headers SYSTEM INTERFACE
    ${MESHPLAN_NVIDIA_DIR}/nccl/include ${MESHPLAN_NVIDIA_DIR}/cu13/include)
  target_link_directories(meshplan-nccl-headers INTERFACE ${MESHPLAN_NVIDIA_DIR}/nccl/lib ${MESHPLAN_NVIDIA_DIR}/cu13/lib)
endif()
if(NOT MESHPLAN_TORCH)
  return()
endif()
if(NOT MESHPLAN_PYTHON)
  message(FATAL_ERROR "MESHPLAN_PYTHON is not set: run tools/setup, or pass -DMESHPLAN_PYTHON=<python with torch>")
endif()
execute_process(COMMAND ${MESHPLAN_PYTHON} -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
  OUTPUT_VARIABLE MESHPLAN_TORCH_DIR OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE found)
if(NOT found EQUAL 0)
  message(FATAL_ERROR "${MESHPLAN_PYTHON} has no torch: run tools/setup")
endif()
add_library(meshplan-torch INTERFACE)
target_include_directories(meshplan-torch SYSTEM INTERFACE
  ${MESHPLAN_TORCH_DIR}/include ${MESHPLAN_TORCH_DIR}/include/torch/csrc/api/include)
target_link_directories(meshplan-torch INTERFACE ${MESHPLAN_TORCH_DIR}/lib)
target_link_options(meshplan-torch INTERFACE "LINKER:--no-as-needed")
# g++ 12 mistakes the null tensor of an inlined IValue for an object of size 0.
target_compile_options(meshplan-torch INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
target_link_libraries(meshplan-torch INTERFACE torch_cpu c10 Threads::Threads)
if(MESHPLAN_CUDA)
  target_include_directories(meshplan-torch SYSTEM INTERFACE ${MESHPLAN_TORCH_DIR}/../nvidia/cu13/include)
  target_link_libraries(meshplan-torch INTERFACE torch_cuda c10_cuda)
endif()

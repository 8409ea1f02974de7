//===- api.cpp - the MPI functions in use ---------------------------------===//

#include "runtime/comm/mpi/api.h"

#include "runtime/base/shared_library.h"

using namespace meshplan;

// Open MPI has kept this soname since version 2. Other libraries have the soname of the MPICH ABI.
#ifdef OPEN_MPI
static constexpr const char *libraryName = "libmpi.so.40";
#define MESHPLAN_TAKE_CONSTANT(member, symbol, constant) library.take(api.member, symbol)
#else
static constexpr const char *libraryName = "libmpi.so.12";
#define MESHPLAN_TAKE_CONSTANT(member, symbol, constant) api.member = constant
#endif

Expected<MpiApi> meshplan::openMpi(const char *name) {
  MpiApi api;
  SharedLibrary library(name);
  library.take(api.MPI_Comm_free, "MPI_Comm_free");
  library.take(api.MPI_Comm_get_attr, "MPI_Comm_get_attr");
  library.take(api.MPI_Comm_rank, "MPI_Comm_rank");
  library.take(api.MPI_Comm_set_errhandler, "MPI_Comm_set_errhandler");
  library.take(api.MPI_Comm_size, "MPI_Comm_size");
  library.take(api.MPI_Comm_split, "MPI_Comm_split");
  library.take(api.MPI_Comm_split_type, "MPI_Comm_split_type");
  library.take(api.MPI_Error_string, "MPI_Error_string");
  library.take(api.MPI_Finalize, "MPI_Finalize");
  library.take(api.MPI_Get_count, "MPI_Get_count");
  library.take(api.MPI_Improbe, "MPI_Improbe");
  library.take(api.MPI_Init_thread, "MPI_Init_thread");
  library.take(api.MPI_Irecv, "MPI_Irecv");
  library.take(api.MPI_Isend, "MPI_Isend");
  library.take(api.MPI_Mrecv, "MPI_Mrecv");
  library.take(api.MPI_Testsome, "MPI_Testsome");
  // In Open MPI these constants are addresses of symbols, which must come from the same library as the functions.
  MESHPLAN_TAKE_CONSTANT(world, "ompi_mpi_comm_world", MPI_COMM_WORLD);
  MESHPLAN_TAKE_CONSTANT(nullComm, "ompi_mpi_comm_null", MPI_COMM_NULL);
  MESHPLAN_TAKE_CONSTANT(byte, "ompi_mpi_byte", MPI_BYTE);
  MESHPLAN_TAKE_CONSTANT(errorsReturn, "ompi_mpi_errors_return", MPI_ERRORS_RETURN);
  MESHPLAN_TAKE_CONSTANT(nullInfo, "ompi_mpi_info_null", MPI_INFO_NULL);
  MESHPLAN_TAKE_CONSTANT(nullRequest, "ompi_request_null", MPI_REQUEST_NULL);
  if (library.failure().empty())
    return api;
  return Status::error(StatusCode::unsupported, "the backend mpi needs ", name,
                       ", which cannot be used here: ", library.failure(),
                       "; help: install it, or start one process without a launcher, which runs all ranks");
}

const Expected<MpiApi> &meshplan::installedMpi() {
  static const Expected<MpiApi> api = openMpi(libraryName);
  return api;
}

Status meshplan::mpiStatus(int code, const char *call) {
  if (code == MPI_SUCCESS)
    return Status();
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (mpi().MPI_Error_string(code, text, &length) != MPI_SUCCESS)
    length = 0;
  return Status::error(StatusCode::peerLost, call, ": ", length > 0 ? std::string(text, length) : "unknown error", " (",
                       code, ")");
}

//===- mpi_status.cpp - MPI's error codes as Status -----------------------===//

#include "runtime/comm/mpi/mpi_status.h"

using namespace meshplan;

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

//===- mpi_status.h - MPI's error codes as Status ---------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_MPI_STATUS_H
#define MESHPLAN_RUNTIME_COMM_MPI_MPI_STATUS_H

#include "runtime/comm/mpi/api.h"

namespace meshplan {

/// ok, or `peerLost` with the name of the call and MPI's text for `code`. The communicator must return errors
/// (MPI_ERRORS_RETURN).
Status mpiStatus(int code, const char *call);

} // namespace meshplan

/// Calls an MPI function; returns its failure from the enclosing function.
#define MESHPLAN_RETURN_IF_MPI_ERROR(function, ...)                                                                    \
  MESHPLAN_RETURN_IF_ERROR(::meshplan::mpiStatus(::meshplan::mpi().function(__VA_ARGS__), #function))

#endif // MESHPLAN_RUNTIME_COMM_MPI_MPI_STATUS_H

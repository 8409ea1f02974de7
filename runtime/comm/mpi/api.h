//===- api.h - the MPI functions in use -------------------------*- C++ -*-===//
//
// The functions of MPI that are used. The library is opened when a launcher of MPI has started the process, so that a
// program starts on a machine without it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_API_H
#define MESHPLAN_RUNTIME_COMM_MPI_API_H

#include "runtime/base/status.h"

#include <mpi.h>

namespace meshplan {

/// Functions under their own names, and the constants that are objects of the library in Open MPI.
struct MpiApi {
  decltype(&::MPI_Comm_free) MPI_Comm_free;
  decltype(&::MPI_Comm_get_attr) MPI_Comm_get_attr;
  decltype(&::MPI_Comm_rank) MPI_Comm_rank;
  decltype(&::MPI_Comm_set_errhandler) MPI_Comm_set_errhandler;
  decltype(&::MPI_Comm_size) MPI_Comm_size;
  decltype(&::MPI_Comm_split) MPI_Comm_split;
  decltype(&::MPI_Comm_split_type) MPI_Comm_split_type;
  decltype(&::MPI_Error_string) MPI_Error_string;
  decltype(&::MPI_Finalize) MPI_Finalize;
  decltype(&::MPI_Get_count) MPI_Get_count;
  decltype(&::MPI_Improbe) MPI_Improbe;
  decltype(&::MPI_Init_thread) MPI_Init_thread;
  decltype(&::MPI_Irecv) MPI_Irecv;
  decltype(&::MPI_Isend) MPI_Isend;
  decltype(&::MPI_Mrecv) MPI_Mrecv;
  decltype(&::MPI_Testsome) MPI_Testsome;

  MPI_Comm world, nullComm;
  MPI_Datatype byte;
  MPI_Errhandler errorsReturn;
  MPI_Info nullInfo;
  MPI_Request nullRequest;
};

/// Opens the library of this name. `unsupported` if it cannot be opened or lacks a function.
Expected<MpiApi> openMpi(const char *name);

/// The installed MPI of the kind whose headers this was built with.
const Expected<MpiApi> &installedMpi();

/// As installedMpi, where it is known to have succeeded.
inline const MpiApi &mpi() { return *installedMpi(); }

/// ok, or `peerLost` with the name of the call and MPI's text for `code`. The communicator must return errors
/// (MPI_ERRORS_RETURN).
Status mpiStatus(int code, const char *call);

} // namespace meshplan

/// Calls an MPI function; returns its failure from the enclosing function.
#define MESHPLAN_RETURN_IF_MPI_ERROR(function, ...)                                                                    \
  MESHPLAN_RETURN_IF_ERROR(::meshplan::mpiStatus(::meshplan::mpi().function(__VA_ARGS__), #function))

#endif // MESHPLAN_RUNTIME_COMM_MPI_API_H

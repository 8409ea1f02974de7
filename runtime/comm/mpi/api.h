//===- api.h - what is used of MPI -------------------------------*- C++ -*-===//
//
// The library is opened when a launcher of MPI has started the process, so that
// a program starts on a machine without it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_API_H
#define MESHPLAN_RUNTIME_COMM_MPI_API_H

#include "runtime/base/status.h"

#include <mpi.h>

#define MESHPLAN_MPI_FUNCTIONS(X)                                                                                      \
  X(MPI_Comm_free)                                                                                                     \
  X(MPI_Comm_get_attr)                                                                                                 \
  X(MPI_Comm_rank)                                                                                                     \
  X(MPI_Comm_set_errhandler)                                                                                           \
  X(MPI_Comm_size)                                                                                                     \
  X(MPI_Comm_split)                                                                                                    \
  X(MPI_Comm_split_type) X(MPI_Error_string) X(MPI_Finalize) X(MPI_Get_count) X(MPI_Improbe) X(MPI_Init_thread)        \
      X(MPI_Irecv) X(MPI_Isend) X(MPI_Mrecv) X(MPI_Testsome)

namespace meshplan {

/// Functions under their own names. Of the constants those that are objects of the library in Open MPI.
struct MpiApi {
#define MESHPLAN_MEMBER(name) decltype(&::name) name = nullptr;
  MESHPLAN_MPI_FUNCTIONS(MESHPLAN_MEMBER)
#undef MESHPLAN_MEMBER
  MPI_Comm world, nullComm;
  MPI_Datatype byte;
  MPI_Errhandler errorsReturn;
  MPI_Info nullInfo;
  MPI_Request nullRequest;
};

/// What the library of this name has. `unsupported` when it cannot be opened, or lacks something.
Expected<MpiApi> openMpi(const char *name);

/// The installed MPI of the kind whose headers this was built with.
const Expected<MpiApi> &installedMpi();

/// The same, where it is known to be there.
inline const MpiApi &mpi() { return *installedMpi(); }

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_API_H

//===- end_at_send.cpp - a process that is killed at a chosen send --------===//
//
// A library to be loaded before MPI (LD_PRELOAD). It counts the calls of MPI_Isend and sends SIGKILL to its own process
// at call number END_AT_SEND, counted from 1, before that call sends anything. With COUNT_SENDS=FILE it writes the
// total number of calls at the end.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <mpi.h>

namespace {

class Sends {
public:
  Sends() {
    if (const char *text = std::getenv("END_AT_SEND"))
      last = std::atol(text);
  }

  ~Sends() {
    if (const char *path = std::getenv("COUNT_SENDS"))
      std::ofstream(path) << calls;
  }

  void count() {
    if (++calls == last)
      std::raise(SIGKILL);
  }

private:
  std::atomic<long> calls = 0;
  long last = 0;
};

Sends sends;

} // namespace

extern "C" int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
                         MPI_Request *request) {
  sends.count();
  return PMPI_Isend(buffer, count, type, destination, tag, comm, request);
}

//===- api.cpp - the NCCL and CUDA functions in use -----------------------===//

#include "runtime/comm/nccl/api.h"

#include "runtime/base/shared_library.h"

#include <cstdlib>

using namespace meshplan;

namespace {

Status statusOf(const SharedLibrary &library, const char *name) {
  if (library.failure().empty())
    return Status();
  return Status::error(StatusCode::unsupported, "the backend nccl needs ", name,
                       ", which cannot be used here: ", library.failure(),
                       "; help: install it, or compile with --device cpu");
}

Status openFunctions(CudaApi &api) {
  // The version of the headers that this is built with: another one may have other structures under the same names.
  const char *name = "libcudart.so.13";
  SharedLibrary library(name);
  library.take(api.getDeviceCount, "cudaGetDeviceCount");
  library.take(api.setDevice, "cudaSetDevice");
  library.take(api.streamCreateWithFlags, "cudaStreamCreateWithFlags");
  library.take(api.streamDestroy, "cudaStreamDestroy");
  library.take(api.streamWaitEvent, "cudaStreamWaitEvent");
  library.take(api.eventCreateWithFlags, "cudaEventCreateWithFlags");
  library.take(api.eventDestroy, "cudaEventDestroy");
  library.take(api.eventRecord, "cudaEventRecord");
  library.take(api.eventQuery, "cudaEventQuery");
  library.take(api.getErrorString, "cudaGetErrorString");
  library.take(api.malloc, "cudaMalloc");
  library.take(api.free, "cudaFree");
  library.take(api.memcpyAsync, "cudaMemcpyAsync");
  return statusOf(library, name);
}

Status openFunctions(NcclApi &api) {
  MESHPLAN_RETURN_IF_ERROR(prepareNcclEnvironment());
  MESHPLAN_ASSIGN_OR_RETURN(const CudaApi *cuda, openCuda());
  api.cuda = *cuda;
  const char *name = "libnccl.so.2";
  SharedLibrary library(name);
  library.take(api.getVersion, "ncclGetVersion");
  library.take(api.getUniqueId, "ncclGetUniqueId");
  library.take(api.commInitRankConfig, "ncclCommInitRankConfig");
  library.take(api.commGetAsyncError, "ncclCommGetAsyncError");
  library.take(api.commAbort, "ncclCommAbort");
  library.take(api.commDestroy, "ncclCommDestroy");
  library.take(api.groupStart, "ncclGroupStart");
  library.take(api.groupEnd, "ncclGroupEnd");
  library.take(api.allReduce, "ncclAllReduce");
  library.take(api.allGather, "ncclAllGather");
  library.take(api.reduceScatter, "ncclReduceScatter");
  library.take(api.broadcast, "ncclBroadcast");
  library.take(api.reduce, "ncclReduce");
  library.take(api.send, "ncclSend");
  library.take(api.recv, "ncclRecv");
  library.take(api.getErrorString, "ncclGetErrorString");
  library.take(api.getLastError, "ncclGetLastError");
  // Absent before NCCL 2.19. Only plans with 'register buffers' need them.
  library.takeIfThere(api.memAlloc, "ncclMemAlloc");
  library.takeIfThere(api.memFree, "ncclMemFree");
  library.takeIfThere(api.commRegister, "ncclCommRegister");
  library.takeIfThere(api.commDeregister, "ncclCommDeregister");
  return statusOf(library, name);
}

/// "2.26.2": since 2.9 the code has two digits for the minor version.
std::string versionText(int code) {
  int major = code < 10000 ? code / 1000 : code / 10000;
  int minor = code < 10000 ? code % 1000 / 100 : code % 10000 / 100;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(code % 100);
}

Status setVariable(const char *name, const std::string &value, const char *reason) {
  const char *there = std::getenv(name);
  if (there && there != value)
    return Status::error(StatusCode::invalid, "the environment has ", name, "=", there, ", and the backend nccl needs ",
                         value, ": ", reason, "; help: unset it");
  ::setenv(name, value.c_str(), /*replace=*/1);
  return Status();
}

} // namespace

Status meshplan::prepareNcclEnvironment() {
  MESHPLAN_RETURN_IF_ERROR(setVariable("NCCL_LAUNCH_ORDER_IMPLICIT", "1",
                                       "else collectives of different communicators may wait for each other forever"));
  return setVariable("NCCL_RUNTIME_CONNECT", "0",
                     "else the first collective of a communicator waits for all its ranks before it is launched");
}

Status meshplan::checkNcclVersion(int version) {
  constexpr int oldest = 22600; // the first with NCCL_LAUNCH_ORDER_IMPLICIT
  if (version >= oldest)
    return Status();
  return Status::error(StatusCode::unsupported, "NCCL ", versionText(version),
                       " is installed, and the backend nccl needs ", versionText(oldest),
                       " or newer, which orders the collectives of different communicators; help: "
                       "install nvidia-nccl-cu13, the version that PyTorch brings, or compile with --device cpu");
}

Expected<const CudaApi *> meshplan::openCuda() {
  static CudaApi api;
  // Once for the process, also if several ranks of it ask at the same time.
  static const Status opened = openFunctions(api);
  if (!opened.ok())
    return opened;
  return &api;
}

Expected<const NcclApi *> meshplan::openNccl() {
  static NcclApi api;
  static const Status opened = openFunctions(api);
  if (!opened.ok())
    return opened;
  return &api;
}

int meshplan::deviceCountOf(const CudaApi &cuda) {
  int count = 0;
  return cuda.getDeviceCount(&count) == cudaSuccess ? count : 0;
}

Status meshplan::cudaStatus(const CudaApi &api, cudaError_t code) {
  return code == cudaSuccess ? Status() : Status::error(StatusCode::internal, "CUDA: ", api.getErrorString(code));
}

Status meshplan::ncclStatus(const NcclApi &api, ncclResult_t code, ncclComm_t communicator) {
  if (code == ncclSuccess || code == ncclInProgress)
    return Status();
  const char *more = api.getLastError(communicator);
  std::string detail = more && *more ? std::string(" (") + more + ")" : "";
  // A remote error is the consequence of a process that has died.
  StatusCode kind = code == ncclRemoteError ? StatusCode::peerLost : StatusCode::internal;
  return Status::error(kind, "NCCL: ", api.getErrorString(code), detail);
}

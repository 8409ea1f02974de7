//===- load.h - tensors from a feed to the device ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_LOAD_H
#define MESHPLAN_RUNTIME_EXEC_LOAD_H

#include "runtime/exec/feed.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// Bytes of the host's memory that a tensor passes through on its way to a device.
inline constexpr int64_t stagingBytes = int64_t(64) << 20;

/// The rank's part, on the device of the thread. On the host it is read in place; else in pieces of rows of about
/// `pieceBytes`.
Expected<Tensor> loadTensor(const Feed &feed, const FeedRequest &request, int64_t pieceBytes = stagingBytes);

/// The request for the rows [begin, begin + count) of the local tensor, which has at least one dim.
FeedRequest rowsOf(const FeedRequest &request, int64_t begin, int64_t count);

/// Reads into `tensor`, a row-major tensor on any device, through the memory of the host.
Status loadInPieces(const Feed &feed, const FeedRequest &request, int64_t pieceBytes, const Tensor &tensor);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_LOAD_H

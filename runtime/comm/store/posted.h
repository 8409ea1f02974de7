//===- posted.h - a rank's part of a collective in the store ----*- C++ -*-===//
//
// The messages of the store backend. A rank posts its part of a collective under a key; every rank then reads all
// parts.
//
// Example: all-reduce number 4 of two floats in a group of 2 ranks, with the group's key G. (-1, -1) stands for the
// whole group; a send has the pair of its ranks there.
//
//   rank 0 sets G/-1/-1/4/0/0 = 8 bytes of input     rank 1 sets G/-1/-1/4/1/0 = 8 bytes of input
//   rank 0 sets G/-1/-1/4/0   = size, description    rank 1 sets G/-1/-1/4/1   = size, description
//   both: wait until G/-1/-1/4/0 and /1 exist, read both, compare, add in rank order
//   both: add 1 to G/-1/-1/4/left; the one that reads 2 removes all these keys
//
// The head is set after its chunks, so it exists only when everything does.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_STORE_POSTED_H
#define MESHPLAN_RUNTIME_COMM_STORE_POSTED_H

#include "runtime/comm/agreement.h"
#include "runtime/comm/store/key_value_store.h"

namespace meshplan {

/// A rank's part of a collective, with a copy of its input.
struct Posted {
  Collective collective; ///< its input is `payload`
  std::vector<std::byte> payload;
};

/// Posts the part of the rank with `index` under `key`. The key exists only when everything is posted.
Status post(KeyValueStore &store, const std::string &key, const Collective &collective, int64_t index);

/// Precondition: the key exists.
Expected<Posted> readPosted(KeyValueStore &store, const std::string &key);

/// Removes a part. `posted` is its content.
Status removePosted(KeyValueStore &store, const std::string &key, const Posted &posted);

/// Computes the output of the rank with `ownIndex`. There is one part per index in `indices`, and the parts agree.
void takeOutput(const Collective &own, int64_t ownIndex, std::span<const Posted> parts,
                std::span<const int64_t> indices);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_STORE_POSTED_H

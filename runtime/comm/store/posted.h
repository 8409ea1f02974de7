//===- posted.h - what a rank posts for a collective -------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_STORE_POSTED_H
#define MESHPLAN_RUNTIME_COMM_STORE_POSTED_H

#include "runtime/comm/agreement.h"
#include "runtime/comm/store/key_value_store.h"

namespace meshplan {

/// A rank's part in a collective, with a copy of its input.
struct Posted {
  Collective collective; ///< its input is `payload`
  std::vector<std::byte> payload;
};

/// Posts under `key`, which is there when all of it is.
Status post(KeyValueStore &store, const std::string &key, const Collective &collective, int64_t index);

/// Precondition: the key is there.
Expected<Posted> readPosted(KeyValueStore &store, const std::string &key);

/// `posted` is what stands there.
Status removePosted(KeyValueStore &store, const std::string &key, const Posted &posted);

/// Fills the output of the rank with `ownIndex`. The parts, one for each of `indices`, agree.
void takeOutput(const Collective &own, int64_t ownIndex, std::span<const Posted> parts,
                std::span<const int64_t> indices);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_STORE_POSTED_H

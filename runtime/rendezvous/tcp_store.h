//===- tcp_store.h - a key-value store over TCP ------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_RENDEZVOUS_TCP_STORE_H
#define MESHPLAN_RUNTIME_RENDEZVOUS_TCP_STORE_H

#include "runtime/comm/store/key_value_store.h"

#include <chrono>

namespace meshplan {

struct TcpAddress {
  std::string host;
  uint16_t port = 0;
};

/// Reaches the store of PyTorch's kind (c10d::TCPStore) at `address`, within
/// `limit`. With `serves` this process is the one that has it, for as long as
/// the object lives. `peerLost` when nobody serves, `invalid` when this process
/// cannot, because the port is taken for example.
Expected<std::unique_ptr<KeyValueStore>> openTcpStore(const TcpAddress &address, bool serves,
                                                      std::chrono::milliseconds limit);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_RENDEZVOUS_TCP_STORE_H

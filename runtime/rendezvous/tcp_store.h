//===- tcp_store.h - a key-value store over TCP -----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_RENDEZVOUS_TCP_STORE_H
#define MESHPLAN_RUNTIME_RENDEZVOUS_TCP_STORE_H

#include "runtime/comm/store/key_value_store.h"

#include <chrono>

namespace meshplan {

struct TcpAddress {
  std::string host;
  uint16_t port = 0;
};

/// Connects to a store of PyTorch's kind (c10d::TCPStore) at `address`, within `limit`. With `serves` this process
/// hosts the store as long as the object lives. `peerLost` if no process serves it; `invalid` if this process cannot
/// serve it, for example because the port is in use.
Expected<std::unique_ptr<KeyValueStore>> openTcpStore(const TcpAddress &address, bool serves,
                                                      std::chrono::milliseconds limit);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_RENDEZVOUS_TCP_STORE_H

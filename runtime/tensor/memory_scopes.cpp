//===- memory_scopes.cpp - the pool of a thread ---------------------------===//

#include "runtime/tensor/memory.h"

#include <utility>

using namespace meshplan;

static RankPools &poolsOfThread() {
  thread_local RankPools pools;
  return pools;
}

static bool &isHostOfThread() {
  thread_local bool isHost = false;
  return isHost;
}

PoolScope::PoolScope(std::shared_ptr<MemoryPool> device, std::shared_ptr<MemoryPool> host)
    : outer(std::exchange(poolsOfThread(), {std::move(device), std::move(host)})) {}

PoolScope::~PoolScope() { poolsOfThread() = std::move(outer); }

/// A scope without effect inside one with effect must not end it, hence `or`.
HostScope::HostScope(bool isOnHost) : outerIsHost(isHostOfThread()) { isHostOfThread() |= isOnHost; }

HostScope::~HostScope() { isHostOfThread() = outerIsHost; }

bool meshplan::inHostScope() { return isHostOfThread(); }

const std::shared_ptr<MemoryPool> &meshplan::currentPool() {
  return inHostScope() ? poolsOfThread().host : poolsOfThread().device;
}

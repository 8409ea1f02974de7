//===- device_waits.cpp - how a thread waits for its device ---------------===//

#include "runtime/tensor/device.h"

#include <utility>

using namespace meshplan;

using Await = std::function<Status(const DevicePoint &)>;

static Await &awaitOfThread() {
  thread_local Await await;
  return await;
}

DeviceWaitScope::DeviceWaitScope(Await await) : outer(std::exchange(awaitOfThread(), std::move(await))) {}

DeviceWaitScope::~DeviceWaitScope() { awaitOfThread() = std::move(outer); }

Status meshplan::awaitDevice(const DevicePoint &isThere) {
  return awaitOfThread() ? awaitOfThread()(isThere) : Status();
}

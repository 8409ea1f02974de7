//===- fake_stream.cpp - streams and events without a device --------------===//

#include "test/lib/fake_nccl/fake_stream.h"

#include <algorithm>

using namespace meshplan;

FakeStream::FakeStream() : worker([this] { work(); }) {}

FakeStream::~FakeStream() {
  {
    std::lock_guard lock(mutex);
    ending = true;
  }
  changed.notify_all();
  worker.join();
}

void FakeStream::push(std::function<void()> task) {
  std::lock_guard lock(mutex);
  tasks.push_back(std::move(task));
  changed.notify_all();
}

void FakeStream::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return ending || !tasks.empty(); });
    if (tasks.empty())
      return;
    std::function<void()> task = std::move(tasks.front());
    tasks.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

void FakeEvent::record(FakeStream &stream) {
  std::lock_guard lock(state->mutex);
  int64_t number = ++state->recorded;
  stream.push([state = state, number] {
    std::lock_guard lock(state->mutex);
    state->passed = std::max(state->passed, number);
    state->changed.notify_all();
  });
}

void FakeEvent::orderBefore(FakeStream &stream) {
  std::lock_guard lock(state->mutex);
  stream.push([state = state, number = state->recorded] {
    std::unique_lock lock(state->mutex);
    state->changed.wait(lock, [&] { return state->passed >= number; });
  });
}

bool FakeEvent::hasPassed() const {
  std::lock_guard lock(state->mutex);
  return state->passed >= state->recorded;
}

//===- fake_stream.h - streams and events without a device -------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_STREAM_H
#define MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_STREAM_H

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace meshplan {

/// Runs what it is given, in order, in a thread of its own.
class FakeStream {
public:
  FakeStream();
  /// Waits for all that it was given.
  ~FakeStream();

  void push(std::function<void()> task);

private:
  void work();

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  bool ending = false;
  std::thread worker; // last: it uses the others
};

/// The moment when a stream gets to it.
class FakeEvent {
public:
  void record(FakeStream &stream);
  void orderBefore(FakeStream &stream);
  bool hasPassed() const;

private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    int64_t recorded = 0, passed = 0;
  };
  std::shared_ptr<State> state = std::make_shared<State>(); // streams may have it longer than the rank
};

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_STREAM_H

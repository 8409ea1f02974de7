//===- fake_stream.h - streams and events without a device ------*- C++ -*-===//

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

/// Runs the given work, in order, on a thread of its own.
class FakeStream {
public:
  FakeStream();
  /// Waits until all its work is done.
  ~FakeStream();

  void push(std::function<void()> task);

private:
  void work();

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  bool ending = false;
  std::thread worker; // last member: it uses the others
};

/// The point at which a stream reaches it.
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
  std::shared_ptr<State> state = std::make_shared<State>(); // streams may hold it longer than the rank
};

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_FAKE_NCCL_FAKE_STREAM_H

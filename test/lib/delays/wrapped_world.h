//===- wrapped_world.h - a world over another one ---------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_DELAYS_WRAPPED_WORLD_H
#define MESHPLAN_TEST_LIB_DELAYS_WRAPPED_WORLD_H

#include "runtime/comm/communicator.h"

namespace meshplan {

/// Does what another world does; what derives from it makes other groups.
class WrappedWorld : public World {
public:
  /// `inner` must outlive it.
  explicit WrappedWorld(World &inner) : inner(inner) {}

  int64_t rank() const override { return inner.rank(); }
  int64_t size() const override { return inner.size(); }
  std::chrono::milliseconds timeout() const override { return inner.timeout(); }
  void abort(Status cause) override { inner.abort(std::move(cause)); }
  Status failure() override { return inner.failure(); }
  World &host() override { return &inner.host() == &inner ? *this : inner.host(); }
  using World::synchronize;
  Status synchronize(std::chrono::milliseconds limit) override { return inner.synchronize(limit); }

protected:
  World &inner;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_DELAYS_WRAPPED_WORLD_H

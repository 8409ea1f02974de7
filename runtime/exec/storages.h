//===- storages.h - tensors that lie in one storage --------------*- C++ -*-===//
//
// The buffers of a program (schedule.fbs): parameters, or accumulators, one
// after the other in one storage. Collectives that take several of them find
// them packed.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_STORAGES_H
#define MESHPLAN_RUNTIME_EXEC_STORAGES_H

#include "runtime/comm/communicator.h"
#include "runtime/exec/prepare.h"
#include "runtime/exec/rank_view.h"

#include <map>

namespace meshplan {

/// The storages of one program on one rank. Belongs to the thread of the rank.
class Storages {
public:
  /// `world` must outlive this.
  Storages(const RankView &view, World &world);

  /// A row-major tensor for the rank's part of a value: at its place in a storage, which is made with the first, or a
  /// new one. Its elements are not set.
  Expected<Tensor> allocate(int value);

  /// Takes storages that another program has under the same name.
  void share(const Storages &owner);

  /// Tells the communicators that take something from registered storages, or put something there, of them; once. They
  /// forget them when this ends.
  Status registerWith(const Groups &groups);

private:
  struct Storage {
    std::string name;
    int64_t elements = 0;
    DType dtype = DType::f32;
    bool isRegistered = false;
    Tensor whole; // when there is one
  };
  struct Place {
    size_t storage;
    int64_t offset; // in elements
  };

  Status make(Storage &storage);
  std::map<int, std::vector<size_t>> uses() const;

  RankView view;
  World &world;
  std::vector<Storage> storages;
  std::map<int, Place> places;                              // by value
  std::vector<std::unique_ptr<Registration>> registrations; // last: they go first
  bool isDone = false;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STORAGES_H

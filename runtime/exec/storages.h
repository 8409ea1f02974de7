//===- storages.h - tensors adjacent in one storage -------------*- C++ -*-===//
//
// The buffers of a program (schedule.fbs): parameters, or accumulators, that are adjacent in one storage, so that
// coalesced collectives need not pack them.
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
  /// `world` must outlive this object.
  Storages(const RankView &view, World &world);

  /// A row-major tensor for the rank's shard of a value: its part of a storage, which is created with its first value,
  /// or a new tensor. The elements are not initialized.
  Expected<Tensor> allocate(int value);

  /// Shares the storages of another program that have the same names.
  void share(const Storages &owner);

  /// Registers storages with the communicators whose collectives read or write them, once. The registrations end with
  /// this object.
  Status registerWith(const Groups &groups);

private:
  struct Storage {
    std::string name;
    int64_t elements = 0;
    DType dtype = DType::f32;
    bool isRegistered = false;
    Tensor whole; // undefined until it is created
  };
  struct Region {
    size_t storage;
    int64_t offset; // offset in elements
  };

  Status make(Storage &storage);
  std::map<int, std::vector<size_t>> uses() const;

  RankView view;
  World &world;
  std::vector<Storage> storages;
  std::map<int, Region> regions;                            // by value: where it lies
  std::vector<std::unique_ptr<Registration>> registrations; // destroyed before the storages
  bool isDone = false;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STORAGES_H

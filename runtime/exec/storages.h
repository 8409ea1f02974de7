//===- storages.h - tensors adjacent in one storage -------------*- C++ -*-===//
//
// The buffers of the programs of a schedule (schedule.fbs): parameters, or accumulators, that are adjacent in one
// storage, so that coalesced collectives need not pack them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_STORAGES_H
#define MESHPLAN_RUNTIME_EXEC_STORAGES_H

#include "runtime/comm/communicator.h"
#include "runtime/exec/prepare.h"
#include "runtime/exec/rank_view.h"

#include <map>
#include <set>

namespace meshplan {

/// The storages of a session. Programs name them. A program that does not read all tensors of a storage lists only
/// some; the longest list has all tensors, in their order in memory. Belongs to the thread of the rank.
class Storages {
public:
  /// `views` are the programs; `world` must outlive this object.
  Storages(std::span<const RankView> views, World &world);

  /// A row-major tensor for the rank's shard of a value of a program: its part of a storage, which is created with its
  /// first tensor, or a new tensor. The elements are not initialized. `name` is that of heldNames.
  Expected<Tensor> allocate(const RankView &view, int value, const std::string &name);

  /// Registers storages with the communicators whose collectives read or write them, once. The registrations end with
  /// this object.
  Status registerWith(const Groups &groups);

private:
  struct Storage {
    std::string name;
    std::vector<std::string> members;
    int64_t elements = 0;
    DType dtype = DType::f32;
    bool isRegistered = false;
    Tensor whole; // undefined until it is created
  };
  struct Region {
    size_t storage;
    int64_t offset; // in elements
  };

  void add(const RankView &view, const artifact::Buffer &buffer);
  Status make(Storage &storage);
  void addUses(const RankView &view, std::map<int, std::set<size_t>> &found) const;

  std::vector<RankView> views;
  World &world;
  std::vector<Storage> storages;
  std::map<std::string, Region> regions;                    // by the name of the tensor
  std::vector<std::unique_ptr<Registration>> registrations; // destroyed before the storages
  bool isDone = false;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STORAGES_H

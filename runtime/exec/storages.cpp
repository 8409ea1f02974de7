//===- storages.cpp - tensors adjacent in one storage ---------------------===//

#include "runtime/exec/storages.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/exec/held.h"

#include <algorithm>

using namespace meshplan;

Storages::Storages(std::span<const RankView> programs, World &world)
    : views(programs.begin(), programs.end()), world(world) {
  for (const RankView &view : views)
    for (const artifact::Buffer &buffer : elementsOf(view.program().buffers()))
      add(view, buffer);
}

/// The longest list of a storage counts: it has the tensors of the other lists, and those between them.
void Storages::add(const RankView &view, const artifact::Buffer &buffer) {
  auto known = std::ranges::find(storages, buffer.name()->string_view(), &Storage::name);
  bool isNew = known == storages.end();
  if (!isNew && known->members.size() >= buffer.values()->size())
    return;
  size_t index = known - storages.begin();
  if (isNew)
    storages.emplace_back();
  Storage &storage = storages[index];
  storage = {.name = buffer.name()->str(),
             .members = {},
             .elements = 0,
             .dtype = view.dtype(buffer.values()->Get(0)),
             .isRegistered = buffer.registered(),
             .whole = Tensor()};
  std::map<int, std::string> names = heldNames(view.program());
  // The values of a buffer are adjacent, without padding: a collective over the buffer moves all of them at once.
  for (int32_t value : *buffer.values()) {
    // Example: the shards of two parameters have 6 and 4 elements. They are at 0 and 6 of a storage of 10, and one
    // collective moves elements 0 to 9.
    storage.members.push_back(names.at(value));
    regions[storage.members.back()] = {index, storage.elements};
    storage.elements += elementCount(view.shape(value));
  }
}

Status Storages::make(Storage &storage) {
  std::shared_ptr<void> memory;
  // Registered memory must come from the library of the communicator. An empty shard needs none.
  if (storage.isRegistered && storage.elements > 0) {
    MESHPLAN_ASSIGN_OR_RETURN(memory, world.allocateBuffer(storage.elements * dtypeSize(storage.dtype)));
  }
  std::span<const int64_t> shape(&storage.elements, 1);
  auto whole = memory ? tensorOver(std::move(memory), shape, storage.dtype) : allocateTensor(shape, storage.dtype);
  MESHPLAN_ASSIGN_OR_RETURN(storage.whole, std::move(whole));
  return Status();
}

Expected<Tensor> Storages::allocate(const RankView &view, int value, const std::string &name) {
  std::vector<int64_t> shape = view.shape(value);
  auto region = regions.find(name);
  if (region == regions.end())
    return allocateTensor(shape, view.dtype(value));
  Storage &storage = storages[region->second.storage];
  if (!storage.whole.defined())
    MESHPLAN_RETURN_IF_ERROR(make(storage));
  // A view: an operator that updates the parameter in place writes to the buffer.
  MESHPLAN_ASSIGN_OR_RETURN(Tensor run, narrow(storage.whole, 0, region->second.offset, elementCount(shape)));
  return reshape(run, shape);
}

/// Finds the storages that each communicator reads or writes in a program, by index of the communicator.
void Storages::addUses(const RankView &view, std::map<int, std::set<size_t>> &found) const {
  std::map<int, size_t> holders; // by value: its storage; includes values that overwrote one in place
  for (const auto &[value, name] : heldNames(view.program()))
    if (auto region = regions.find(name); region != regions.end())
      holders[value] = region->second.storage;
  auto follow = [&](int old, int made) {
    if (auto holder = holders.find(old); holder != holders.end())
      // An in-place result has a new value number but the same memory.
      holders[made] = holder->second;
  };
  // In the order of the program, so that an in-place result is known before the collective that reads it.
  for (const artifact::Instruction *instruction : *view.program().instructions()) {
    if (const artifact::Compute *compute = instruction->action_as_Compute(); compute && compute->overwrites())
      for (flatbuffers::uoffset_t i = 0; i < compute->overwrites()->size() && i < compute->outputs()->size(); ++i)
        follow(compute->overwrites()->Get(i), compute->outputs()->Get(i));
    if (const artifact::UnpackRun *unpack = instruction->action_as_UnpackRun(); unpack && unpack->targets())
      for (flatbuffers::uoffset_t i = 0; i < unpack->targets()->size(); ++i)
        follow(unpack->targets()->Get(i), unpack->outputs()->Get(i));
    // What is packed in place is in the storage of its members. A copy is in no storage.
    if (const artifact::PackRun *pack = instruction->action_as_PackRun(); pack && pack->in_place())
      follow(pack->inputs()->Get(0), pack->output());
    if (const artifact::Copy *copy = instruction->action_as_Copy(); copy && copy->target() >= 0)
      follow(copy->target(), copy->output());
    const artifact::Start *start = instruction->action_as_Start();
    if (!start)
      continue;
    if (start->target() >= 0)
      for (int32_t output : membersOf(view.program(), start->output()))
        follow(start->target(), output);
    for (int value : {start->input(), start->target()})
      if (auto holder = holders.find(value); holder != holders.end())
        found[start->communicator()].insert(holder->second);
  }
}

Status Storages::registerWith(const Groups &groups) {
  // Registration is expensive, so it is done once. The storages keep their memory for as long as the program lives, so
  // a registration stays valid.
  if (std::exchange(isDone, true))
    return Status();
  std::map<int, std::set<size_t>> uses;
  for (const RankView &view : views)
    addUses(view, uses);
  for (const auto &[communicator, used] : uses)
    for (size_t index : used) {
      const Storage &storage = storages[index];
      // A buffer whose tensors this program has not allocated has no memory to register.
      if (!storage.isRegistered || !storage.whole.defined() || storage.elements == 0)
        continue;
      MESHPLAN_ASSIGN_OR_RETURN(auto registration,
                                groups[communicator]->registerBuffer(storage.whole.data(), storage.whole.byteSize()));
      if (registration)
        registrations.push_back(std::move(registration));
    }
  return Status();
}

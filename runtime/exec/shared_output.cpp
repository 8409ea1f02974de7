//===- shared_output.cpp - one file written by all ranks ------------------===//
//
// How the ranks write one file together. A collective stands between any two steps of which one needs the other:
//
//   rank 0                                other ranks
//   choose the temporary name
//   broadcast the name         ------->   list it for removal
//   create the file
//   barrier                    <------>   barrier: the file exists
//                                         open it
//   barrier                    <------>   barrier: all have opened it
//   write shards                          write shards
//                                         flush
//   barrier                    <------>   barrier: all shards are on disk
//   flush, rename
//   barrier                    <------>   barrier: it has its name
//
// Each process flushes its own writes, because on a shared file system rank 0 can flush only what its own machine has
// cached.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/shared_output.h"

using namespace meshplan;

static CollectiveLabel labelOf(const char *what) { return {.sequence = -1, .origin = what}; }

/// Gives all ranks the text of rank 0.
static Status shareText(Group &group, std::string &text) {
  int64_t size = static_cast<int64_t>(text.size());
  MESHPLAN_RETURN_IF_ERROR(waitFor(group.startBroadcast(&size, 1, DType::i64, 0, labelOf("creating the outputs"))));
  text.resize(static_cast<size_t>(size));
  return waitFor(group.startBroadcast(text.data(), size, DType::u8, 0, labelOf("creating the outputs")));
}

static Status barrier(Group &group, const char *what) { return waitFor(group.startBarrier(labelOf(what))); }

/// Rank 0 announces the temporary name before it creates the file, so that any surviving rank can remove it.
static Expected<SafetensorsWriter> create(Group &group, const std::string &path, std::span<const TensorSpec> tensors) {
  MESHPLAN_ASSIGN_OR_RETURN(AtomicFile::Names names, AtomicFile::chooseNames(path));
  MESHPLAN_RETURN_IF_ERROR(shareText(group, names.temporary));
  MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter file, SafetensorsWriter::create(names, tensors));
  MESHPLAN_RETURN_IF_ERROR(barrier(group, "creating the outputs"));
  return file;
}

static Expected<SafetensorsWriter> attach(Group &group, const std::string &path, std::span<const TensorSpec> tensors) {
  std::string temporary;
  MESHPLAN_RETURN_IF_ERROR(shareText(group, temporary));
  // If rank 0 dies between creating the file and committing it, this rank removes it.
  ForeignFile foreign(temporary);
  MESHPLAN_RETURN_IF_ERROR(barrier(group, "creating the outputs"));
  MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter file, SafetensorsWriter::attach(path, temporary, tensors));
  foreign.release();
  return file;
}

Expected<SharedOutput> SharedOutput::open(World &world, const std::string &path, std::span<const TensorSpec> tensors) {
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.host().createWorldGroup("world"));
  MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter file,
                            group->index() == 0 ? create(*group, path, tensors) : attach(*group, path, tensors));
  // From here on a failing rank removes the file, so all ranks must have opened it.
  MESHPLAN_RETURN_IF_ERROR(barrier(*group, "creating the outputs"));
  return SharedOutput(std::move(group), std::move(file));
}

Status SharedOutput::commit() {
  if (group->index() != 0)
    MESHPLAN_RETURN_IF_ERROR(file.flush());
  MESHPLAN_RETURN_IF_ERROR(barrier(*group, "writing the outputs"));
  if (group->index() == 0)
    MESHPLAN_RETURN_IF_ERROR(file.commit());
  // An attached writer removes the temporary file when it is destroyed; by then it must have been renamed.
  return barrier(*group, "committing the outputs");
}

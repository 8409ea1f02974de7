//===- shared_output.cpp - one file that all ranks write ------------------===//

#include "runtime/exec/shared_output.h"

using namespace meshplan;

static CollectiveLabel labelOf(const char *what) { return {.sequence = -1, .origin = what}; }

/// Rank 0's text, on every rank.
static Status shareText(Group &group, std::string &text) {
  int64_t size = static_cast<int64_t>(text.size());
  MESHPLAN_RETURN_IF_ERROR(waitFor(group.startBroadcast(&size, 1, DType::i64, 0, labelOf("creating the outputs"))));
  text.resize(static_cast<size_t>(size));
  return waitFor(group.startBroadcast(text.data(), size, DType::u8, 0, labelOf("creating the outputs")));
}

/// Rank 0 creates the file, the others attach to it.
static Expected<SafetensorsWriter> openOwn(Group &group, const std::string &path, std::span<const TensorSpec> tensors) {
  std::string temporary;
  if (group.index() != 0) {
    MESHPLAN_RETURN_IF_ERROR(shareText(group, temporary));
    return SafetensorsWriter::attach(path, temporary, tensors);
  }
  MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter file, SafetensorsWriter::create(path, tensors));
  temporary = file.temporaryPath();
  MESHPLAN_RETURN_IF_ERROR(shareText(group, temporary));
  return file;
}

Expected<SharedOutput> SharedOutput::open(World &world, const std::string &path, std::span<const TensorSpec> tensors) {
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.host().createWorldGroup("world"));
  MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter file, openOwn(*group, path, tensors));
  // A rank that fails from here on removes the file, and by then nobody must look for it any more.
  MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier(labelOf("creating the outputs"))));
  return SharedOutput(std::move(group), std::move(file));
}

Status SharedOutput::commit() {
  if (group->index() != 0)
    MESHPLAN_RETURN_IF_ERROR(file.flush());
  MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier(labelOf("writing the outputs"))));
  if (group->index() == 0)
    MESHPLAN_RETURN_IF_ERROR(file.commit());
  // An attached writer removes the temporary file when it goes, and by then there must be none.
  return waitFor(group->startBarrier(labelOf("committing the outputs")));
}

//===- snapshot.cpp - copies of a rank's tensors --------------------------===//
//
// Two threads share a snapshot. `isTaken` says that the copying thread still reads the elements:
//
//   the rank's thread                        the copying thread
//   take: handles, isTaken = true
//   forward and backward of the next step    copy: elements to host memory
//   waitUntilCopied, before the optimizer    drop the handles, isTaken = false
//   optimizer updates in place               write the copies to disk
//
// Copying first and writing later costs host memory once, and saves the training from waiting for the disk.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/snapshot.h"

#include "runtime/exec/numbers/nonfinite_weights.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/elements.h"

#include <map>

using namespace meshplan;

Snapshot::Snapshot(const Walk &walk, const CheckpointRecord &record)
    : walk(walk), device(deviceOfThread()), files(record.files()) {
  const artifact::Program &program = walk.view().program();
  std::vector<Part> saved;
  for (size_t i = 0; i < record.parameters.size(); ++i)
    if (record.parameters[i].isSaved)
      saved.push_back({record.parameters[i].names.front(), program.parameters()->Get(i)->value(),
                       program.parameters()->Get(i)->trainable(), Tensor(), Tensor()});
  size_t parameterCount = saved.size();
  for (size_t i = 0; i < record.states.size(); ++i)
    saved.push_back(
        {record.states[i].name, program.states()->Get(i)->value(), /*isTrained=*/false, Tensor(), Tensor()});
  std::vector<int> values;
  for (const Part &part : saved)
    values.push_back(part.value);
  // Each replicated tensor is written by one rank, so the other ranks need no copy of it.
  std::vector<bool> isWritten = writtenValues(walk.view(), values);
  for (size_t i = 0; i < saved.size(); ++i)
    if (isWritten[i])
      (i < parameterCount ? parameters : states).push_back(std::move(saved[i]));
}

void Snapshot::take() {
  for (std::vector<Part> *parts : {&parameters, &states})
    for (Part &part : *parts)
      // Only a handle. The elements stay valid until the optimizer updates them in place, which waits for `copy`.
      part.taken = walk.heldValue(part.value);
  // Before the copying thread exists: a step that begins its updates at once finds that it has to wait.
  std::lock_guard lock(mutex);
  isTaken = true;
}

Status Snapshot::checkGoesOn() const {
  return isCancelled ? Status(StatusCode::aborted, "the checkpoint was abandoned") : Status();
}

Status Snapshot::copyParts() {
  // Outside the rank's memory pool, so that the peak memory of the run is counted without the snapshot.
  ComputeScope compute(1, device);
  for (std::vector<Part> *parts : {&parameters, &states})
    for (Part &part : *parts) {
      MESHPLAN_RETURN_IF_ERROR(checkGoesOn());
      if (!part.copied.defined()) {
        MESHPLAN_ASSIGN_OR_RETURN(part.copied, allocateHostTensor(part.taken.shape(), part.taken.dtype()));
      }
      MESHPLAN_RETURN_IF_ERROR(copyElements(part.taken, part.copied));
    }
  return synchronizeCompute();
}

Status Snapshot::copy() {
  Status status = copyParts();
  // Handles keep tensors alive beyond the program's plan, so they are dropped even if the copy failed.
  for (std::vector<Part> *parts : {&parameters, &states})
    for (Part &part : *parts)
      part.taken = Tensor();
  std::lock_guard lock(mutex);
  isTaken = false;
  changed.notify_all();
  return status;
}

void Snapshot::waitUntilCopied() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !isTaken; });
}

Status Snapshot::writeFile(const std::string &folder, const CheckpointFile &file, std::span<const Part> parts,
                           FileSums &sums) const {
  MESHPLAN_ASSIGN_OR_RETURN(SafetensorsWriter writer,
                            SafetensorsWriter::join(folder + "/" + file.name, file.tensors, &sums));
  for (const Part &part : parts) {
    MESHPLAN_RETURN_IF_ERROR(checkGoesOn());
    std::span<const std::byte> bytes(part.copied.data(), part.copied.byteSize());
    MESHPLAN_RETURN_IF_ERROR(writePart(walk.view(), part.value, part.name, bytes, writer));
  }
  return writer.flush();
}

Status Snapshot::checkFinite() const {
  // Non-finite elements of the initial weights do not fail a checkpoint; the user has been warned of them.
  std::map<int, int64_t> loaded;
  for (const NonfiniteWeight &weight : walk.session()->nonfiniteParameters())
    loaded[weight.value] = weight.count;
  for (const Part &part : parameters) {
    if (!part.isTrained)
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(NonfiniteElements found, nonfiniteIn(part.copied));
    if (found.count <= loaded[part.value])
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(std::string text,
                              nonfiniteText("parameter", part.name, walk.view(), part.value, part.copied));
    return Status(StatusCode::numericFault, text + "; help: 'nonfinite gradients stop' or 'skip' in the plan keeps "
                                                   "gradients that are not finite from the parameters");
  }
  return Status();
}

Expected<std::string> Snapshot::write(const std::string &folder) {
  MESHPLAN_RETURN_IF_ERROR(checkFinite());
  std::vector<FileSums> sums(files.size(), FileSums{checksumBlockBytes});
  MESHPLAN_RETURN_IF_ERROR(writeFile(folder, files[0], parameters, sums[0]));
  MESHPLAN_RETURN_IF_ERROR(writeFile(folder, files[1], states, sums[1]));
  return sumsText(sums, files);
}

std::vector<bool> meshplan::writtenValues(const RankView &view, std::span<const int> values) {
  auto bytesOf = [&](int value) { return globalBytesOf(view.value(value)); };
  std::map<int64_t, int64_t> total, dealt; // bytes of values, by number of holders
  for (int value : values)
    total[view.holders(value)] += bytesOf(value);
  std::vector<bool> written;
  for (int value : values) {
    int64_t holders = view.holders(value), bytes = bytesOf(value);
    // A value is not split: the writer is the rank in whose share the middle of the value lies. That is (bytes so far +
    // bytes / 2) / (all / holders), in integers, which are the same on all ranks.
    int64_t all = std::max<int64_t>(total[holders], 1);
    int64_t writer = (2 * dealt[holders] + bytes) * holders / (2 * all);
    dealt[holders] += bytes;
    written.push_back(view.indexAmongHolders(value) == std::min(writer, holders - 1));
  }
  return written;
}

//===- snapshot.h - what a rank holds, copied while it goes on ---*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_SNAPSHOT_H
#define MESHPLAN_RUNTIME_CHECKPOINT_SNAPSHOT_H

#include "runtime/checkpoint/record.h"
#include "runtime/exec/executor.h"
#include "runtime/tensor/device.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace meshplan {

/// A rank's parts of the tensors of a checkpoint in the memory of the host, which is taken once and used for all
/// checkpoints: as many bytes as the rank writes of the parameters and states that it holds (written_values.h). The
/// memory of the rank's pools is not touched.
///
/// One thread takes, another one copies and writes; in this order.
class Snapshot {
public:
  /// `record` says what is saved. `executor` must outlive this.
  Snapshot(const Executor &executor, const CheckpointRecord &record);

  /// On the thread of the rank, between two steps: what is copied next. At once.
  void take();

  /// Copies what was taken. Until it is done, the elements must not change.
  Status copy();

  /// Returns when nothing is taken that is not copied.
  void waitUntilCopied();

  /// Writes the copies into files of a folder, which other ranks write too, and flushes them. `numericFault`, with the
  /// parameter, where one that is trained has become NaN or infinite: such a checkpoint is of no use, and would take
  /// the place of one that is. Else what this rank has added to the checksums of the files, as text for rank 0.
  Expected<std::string> write(const std::string &folder);

  /// While it is, `copy` and `write` come to an end: `aborted`. From any thread.
  void setCancelled(bool cancelled) { isCancelled = cancelled; }

private:
  struct Part {
    std::string name;
    int value;
    bool isTrained; ///< a parameter that steps change
    Tensor taken, copied;
  };

  Status copyParts();
  Status checkFinite() const;
  Status writeFile(const std::string &folder, const CheckpointFile &file, std::span<const Part> parts,
                   FileSums &sums) const;
  Status checkGoesOn() const;

  const Executor &executor;
  Device device;
  std::vector<CheckpointFile> files; // as in the record
  std::vector<Part> parameters, states;
  std::atomic<bool> isCancelled = false;
  std::mutex mutex;
  std::condition_variable changed;
  bool isTaken = false; // and not yet copied
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_SNAPSHOT_H

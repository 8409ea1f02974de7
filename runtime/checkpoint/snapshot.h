//===- snapshot.h - copies of a rank's tensors ------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_SNAPSHOT_H
#define MESHPLAN_RUNTIME_CHECKPOINT_SNAPSHOT_H

#include "runtime/checkpoint/record.h"
#include "runtime/exec/rank_view.h"
#include "runtime/exec/walk.h"
#include "runtime/tensor/device.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace meshplan {

/// A rank's shards of the tensors of a checkpoint, copied to host memory while the rank continues. The host memory is
/// allocated once and reused by all checkpoints; it has the size of what the rank writes (writtenValues). The rank's
/// memory pools are not used.
///
/// For each checkpoint the rank's thread calls take, then another thread calls copy and write, in this order.
class Snapshot {
public:
  /// `record` says what is saved. `walk` must outlive the snapshot.
  Snapshot(const Walk &walk, const CheckpointRecord &record);

  /// Called on the rank's thread between two steps: fixes what is copied next, without copying.
  void take();

  /// Copies the taken tensors. Their elements must not change before it returns.
  Status copy();

  /// Waits until everything that was taken is copied.
  void waitUntilCopied();

  /// Writes the copies into the files of a folder, which other ranks also write, and flushes them. Returns the rank's
  /// partial checksums as text for rank 0. `numericFault`, with the parameter, if a trained parameter has become
  /// non-finite: a useless checkpoint must not replace a good one.
  Expected<std::string> write(const std::string &folder);

  /// While set, `copy` and `write` end early with `aborted`. From any thread.
  void setCancelled(bool cancelled) { isCancelled = cancelled; }

private:
  struct Part {
    std::string name;
    int value;
    bool isTrained; ///< a parameter that steps update
    Tensor taken, copied;
  };

  Status copyParts();
  Status checkFinite() const;
  Status writeFile(const std::string &folder, const CheckpointFile &file, std::span<const Part> parts,
                   FileSums &sums) const;
  Status checkGoesOn() const;

  const Walk &walk;
  Device device;
  std::vector<CheckpointFile> files; // as in the record
  std::vector<Part> parameters, states;
  std::atomic<bool> isCancelled = false;
  std::mutex mutex;
  std::condition_variable changed;
  bool isTaken = false; // taken and not yet copied
};

/// For each value, whether this rank writes its shard. Among the ranks that hold the same shard of a value, exactly one
/// writes it. The values with equally many holders are distributed over them in order, so that each writes about the
/// same number of bytes. Follows from the program alone; no communication. Peer: `dedup_save_to_lowest_rank=False` of
/// torch.distributed.checkpoint.
///
/// Example: two ranks hold three replicated values of 4, 2 and 2 bytes. The middles lie at 2, 5 and 7 of 8 bytes, so
/// rank 0 writes the first value and rank 1 the other two.
std::vector<bool> writtenValues(const RankView &view, std::span<const int> values);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_SNAPSHOT_H

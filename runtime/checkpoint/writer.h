//===- writer.h - asynchronous checkpoints ----------------------*- C++ -*-===//
//
// Writes checkpoints while steps run; one writer per rank. `start`, between two steps, returns at once unless the
// previous checkpoint is still being written. A thread of the rank copies the rank's shards while the next step runs
// forward and backward, and then writes the copy. The optimizer waits for the copy before it updates anything. In
// `poll`, between steps, the ranks agree that all have written; rank 0 gathers their checksums, adds the record, and
// renames the checkpoint to its name.
//
//   CheckpointWriter::open(world, folder, {...});
//   each step:  runner.run();  writer.poll();  if (due) writer.start(runner, state);
//   at the end: writer.finish();
//
// Phases of one checkpoint, the same on all ranks. Each change of phase is agreed by an all-reduce in `poll`:
//
//   idle --start--> writing (copy, write) --all done--> committing (rank 0: record, rename) --done--> idle
//                      |                                    |
//                      +------- a rank failed --------------+--> all give up, the folder is removed, idle
//
// All ranks call open, start, poll and finish at the same point of the run, on the thread of the rank: open is a
// collective, and so is each of the others while a checkpoint is being written.
//
// A writer that is destroyed before `finish` gives up the checkpoint that is being written; earlier ones stay.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_WRITER_H
#define MESHPLAN_RUNTIME_CHECKPOINT_WRITER_H

#include "runtime/checkpoint/folder.h"
#include "runtime/checkpoint/snapshot.h"
#include "runtime/exec/program_runner.h"

#include <future>
#include <optional>

namespace meshplan {

struct CheckpointOptions {
  std::string folder;
  int64_t keep = 0; ///< number of checkpoints to keep; 0: all
  int64_t step = 0; ///< the step of the checkpoint in the folder that the run resumes from; 0: none
};

/// Seconds, of this rank.
struct CheckpointTimes {
  double stalled = 0; ///< the training waited
  double writing = 0; ///< from the start of copying to the end of writing
};

class CheckpointWriter {
public:
  /// Rank 0 opens the folder; fails as CheckpointFolder::open and checkGoesOn do.
  static Expected<CheckpointWriter> open(World &world, const CheckpointOptions &options);

  CheckpointWriter(CheckpointWriter &&) = default;
  CheckpointWriter &operator=(CheckpointWriter &&) = delete;
  ~CheckpointWriter();

  /// Saves the tensors that `runner` holds, `state`, and the runner's counters. Waits for a checkpoint that is still
  /// being written. Does nothing if this step is saved already. `runner` and `world` must outlive the writer and be the
  /// same in every call.
  Status start(ProgramRunner &runner, TrainingState state);

  /// Between two steps: advances the checkpoint that is being written. A failure is that of the writing thread, with
  /// path and reason, and `aborted` on the other ranks. The checkpoint is then given up; earlier ones stay, and another
  /// one may be started.
  Status poll();

  /// Waits until no checkpoint is being written.
  Status finish();

  /// The step of the last complete checkpoint of this run; -1 if there is none.
  int64_t lastStep() const { return completed; }

  /// The times of all checkpoints so far. Only valid while none is being written.
  const CheckpointTimes &times() const { return *clocks; }

private:
  enum class Phase { idle, writing, committing };

  CheckpointWriter(World &world, std::unique_ptr<Group> group, CheckpointOptions options)
      : world(&world), group(std::move(group)), options(std::move(options)) {}

  void prepare(ProgramRunner &runner, const CheckpointRecord &record);
  Status pollOnce();
  Status goOn();
  Expected<int64_t> agree(int64_t own);
  Status giveUp(int64_t rank);

  World *world;
  std::unique_ptr<Group> group;
  CheckpointOptions options;
  std::shared_ptr<CheckpointFolder> folder; // rank 0 only
  std::shared_ptr<Snapshot> snapshot;
  std::shared_ptr<CheckpointRecord> record;                            // of the checkpoint that is being written
  std::shared_ptr<std::string> sums = std::make_shared<std::string>(); // of what this rank has written
  std::shared_ptr<CheckpointTimes> clocks = std::make_shared<CheckpointTimes>();
  Phase phase = Phase::idle;
  int64_t step = -1, completed = -1; // of the last started and the last complete checkpoint
  std::optional<Status> outcome;     // of this rank's task in this phase
  std::future<Status> task;          // last member: its thread ends before the others are destroyed
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_WRITER_H

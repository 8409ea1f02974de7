//===- writer.h - checkpoints that are written while steps run ---*- C++ -*-===//
//
// One for each rank. `start` between two steps returns at once; a thread of the
// rank copies what the rank holds while the next step runs forward and backward,
// and writes the copy behind that. The ranks agree that all have written in
// `poll`, between steps; rank 0 gathers the checksums of what they have written,
// adds the record, and gives the checkpoint its name.
//
//   CheckpointWriter::open(world, folder, {...});
//   each step:  runner.run();  writer.poll();  if (due) writer.start(runner, state);
//   at the end: writer.finish();
//
// All ranks call open, start, poll and finish at the same places of their run:
// while a checkpoint is written, each of them is a collective. They belong to
// the thread of the rank.
//
// A writer that goes before `finish` gives the checkpoint up that is being
// written; those before it stay.
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
  int64_t keep = 0; ///< so many checkpoints stay; 0: all
  int64_t step = 0; ///< whose checkpoint in the folder the run goes on from; 0: of none in it
};

/// Seconds of this rank.
struct CheckpointTimes {
  double stalled = 0; ///< that the training waited
  double writing = 0; ///< from the beginning of copying to the end of writing
};

class CheckpointWriter {
public:
  /// Rank 0 opens the folder: fails as CheckpointFolder::open and checkGoesOn do.
  static Expected<CheckpointWriter> open(World &world, const CheckpointOptions &options);

  CheckpointWriter(CheckpointWriter &&) = default;
  CheckpointWriter &operator=(CheckpointWriter &&) = delete;
  ~CheckpointWriter();

  /// Saves what `runner` holds now, `state` and the runner's counters. Waits for one that is being written. Nothing is
  /// done where this step is saved already. `runner` and `world` must outlive the writer; it is the same each time.
  Status start(ProgramRunner &runner, TrainingState state);

  /// Between two steps: notices what has become of the checkpoint that is being written. A failure is that of the
  /// thread that wrote, with path and reason, and `aborted` on the other ranks; the checkpoint is given up then, those
  /// before it stay, and another may be started.
  Status poll();

  /// Waits until nothing is being written any more.
  Status finish();

  /// The step of the last checkpoint that is complete, of those of this run; -1 for none.
  int64_t lastStep() const { return completed; }

  /// What the checkpoints so far have taken. For when nothing is being written.
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
  std::shared_ptr<CheckpointFolder> folder; // of rank 0
  std::shared_ptr<Snapshot> snapshot;
  std::shared_ptr<CheckpointRecord> record;                            // of the checkpoint that is being written
  std::shared_ptr<std::string> sums = std::make_shared<std::string>(); // what this rank has written of it
  std::shared_ptr<CheckpointTimes> clocks = std::make_shared<CheckpointTimes>();
  Phase phase = Phase::idle;
  int64_t step = -1, completed = -1; // the last one that was started, and that is complete
  std::optional<Status> outcome;     // of this rank in this phase
  std::future<Status> task;          // last: its thread ends before the rest goes
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_WRITER_H

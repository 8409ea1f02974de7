//===- writer.cpp - asynchronous checkpoints ------------------------------===//

#include "runtime/checkpoint/writer.h"

#include "runtime/checkpoint/record.h"
#include "runtime/comm/gather.h"

#include <chrono>
#include <filesystem>

using namespace meshplan;

namespace {
/// Adds the seconds of its lifetime.
class Stopwatch {
public:
  explicit Stopwatch(double &seconds) : seconds(seconds) {}
  ~Stopwatch() { seconds += std::chrono::duration<double>(Clock::now() - begin).count(); }

private:
  using Clock = std::chrono::steady_clock;
  double &seconds;
  Clock::time_point begin = Clock::now();
};
} // namespace

Expected<CheckpointWriter> CheckpointWriter::open(World &world, const CheckpointOptions &options) {
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.host().createWorldGroup("world"));
  CheckpointWriter writer(world, std::move(group), options);
  if (world.rank() == 0) {
    MESHPLAN_ASSIGN_OR_RETURN(CheckpointFolder folder, CheckpointFolder::open(options.folder, options.keep));
    MESHPLAN_RETURN_IF_ERROR(folder.checkGoesOn(options.step));
    writer.folder = std::make_shared<CheckpointFolder>(std::move(folder));
  }
  // No rank may create a file before rank 0 has removed the leftovers of another run.
  std::string path = options.folder;
  MESHPLAN_RETURN_IF_ERROR(shareFromFirst(world, path, "opening the folder of the checkpoints"));
  if (options.step > 0)
    writer.step = options.step;
  return writer;
}

CheckpointWriter::~CheckpointWriter() {
  if (!task.valid())
    return;
  // The thread must not write any more: a file that it creates after this would stay until the next run removes it.
  snapshot->setCancelled(true);
  task.wait();
  if (folder)
    (void)folder->discard(step);
}

void CheckpointWriter::prepare(ProgramRunner &runner, const CheckpointRecord &record) {
  if (snapshot)
    return;
  snapshot = std::make_shared<Snapshot>(runner.walk(), record);
  // The backward pass does not change parameters, so the copy overlaps with it; only the optimizer must wait. The
  // action shares the snapshot, because the runner may keep the action longer than this writer lives.
  runner.beforeUpdates([snapshot = snapshot, clocks = clocks] {
    Stopwatch stalled(clocks->stalled);
    snapshot->waitUntilCopied();
    return Status();
  });
}

/// The part of rank 0: the record, with the combined checksums of all ranks, and with the fingerprint of the initial
/// weights if the checkpoint depends on them.
static Status writeRecord(const std::string &folder, CheckpointRecord record, std::span<const std::string> sums) {
  MESHPLAN_ASSIGN_OR_RETURN(record.checksums, combinedSums(sums, record.files()));
  if (!record.savesAll()) {
    MESHPLAN_ASSIGN_OR_RETURN(TensorSource weights, TensorSource::open(record.state.weights));
    record.weightsFingerprint = fingerprintOf(weights);
  }
  std::string text = textOf(record);
  return writeFileAtomically(folder + "/" + recordName, std::as_bytes(std::span(text)));
}

/// Every rank may be the first to create it.
static Status makeStepFolder(const std::string &path) {
  std::error_code error;
  // No error if it exists.
  std::filesystem::create_directory(path, error);
  if (error)
    return Status::error(StatusCode::io, "cannot make folder '", path, "': ", error.message());
  return Status();
}

Status CheckpointWriter::start(ProgramRunner &runner, TrainingState state) {
  Stopwatch stalled(clocks->stalled);
  state.counters = runner.counters();
  // A run that resumes may be started in another folder.
  std::error_code ignored;
  if (!state.weights.empty())
    state.weights = std::filesystem::absolute(state.weights, ignored).lexically_normal();
  // The end of a training may coincide with a step that is due; a resumed run begins at a saved one.
  if (state.counters.steps == step)
    return Status();
  // There is one host buffer, so two checkpoints cannot be in progress. All ranks start at the same step, so all of
  // them finish the previous checkpoint here.
  MESHPLAN_RETURN_IF_ERROR(finish());
  record = std::make_shared<CheckpointRecord>(recordOf(runner.walk().view().program(), state));
  prepare(runner, *record);
  snapshot->take();
  step = state.counters.steps;
  phase = Phase::writing;
  task = std::async(
      std::launch::async,
      [path = incompletePath(options.folder, step), snapshot = snapshot, sums = sums, clocks = clocks]() -> Status {
        Stopwatch writing(clocks->writing);
        MESHPLAN_RETURN_IF_ERROR(snapshot->copy());
        MESHPLAN_RETURN_IF_ERROR(makeStepFolder(path));
        MESHPLAN_ASSIGN_OR_RETURN(*sums, snapshot->write(path));
        return Status();
      });
  return Status();
}

/// The minimum over all ranks.
Expected<int64_t> CheckpointWriter::agree(int64_t own) {
  int64_t least = 0;
  MESHPLAN_RETURN_IF_ERROR(waitFor(group->startAllReduce(&own, &least, 1, DType::i64, Reduction::min,
                                                         {.sequence = -1, .origin = "saving a checkpoint"})));
  return least;
}

/// Called when all ranks have finished a phase; starts the next one.
Status CheckpointWriter::goOn() {
  outcome.reset();
  if (phase == Phase::committing) {
    phase = Phase::idle;
    completed = step;
    return Status();
  }
  // Blocks for a few kilobytes only. All ranks have written, so none of them is late.
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::string> gathered, gatherAtFirst(*world, *sums));
  phase = Phase::committing;
  // Only rank 0 has the folder, so the other ranks have nothing to do in this phase.
  if (!folder)
    outcome = Status();
  else
    task = std::async(std::launch::async,
                      [folder = folder, path = incompletePath(options.folder, step), step = step, record = record,
                       gathered = std::move(gathered), clocks = clocks]() -> Status {
                        Stopwatch writing(clocks->writing);
                        MESHPLAN_RETURN_IF_ERROR(writeRecord(path, *record, gathered));
                        return folder->commit(step);
                      });
  return Status();
}

/// `rank` has failed, and maybe others.
Status CheckpointWriter::giveUp(int64_t rank) {
  snapshot->setCancelled(true);
  if (task.valid())
    outcome = task.get();
  snapshot->setCancelled(false);
  Status own = *std::exchange(outcome, std::nullopt);
  phase = Phase::idle;
  // Back to the last complete one, so that a later `start` for this step writes it again.
  int64_t lost = std::exchange(step, completed);
  // After this barrier no rank creates a file in the folder any more.
  MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier({.sequence = -1, .origin = "abandoning a checkpoint"})));
  if (folder)
    (void)folder->discard(lost);
  std::string what = "cannot save the checkpoint of step " + std::to_string(lost);
  if (!own.ok() && own.code() != StatusCode::aborted)
    return own.withContext("rank " + std::to_string(world->rank()) + ": " + what);
  return Status(StatusCode::aborted, what + ": rank " + std::to_string(rank) + " failed, see its message");
}

Status CheckpointWriter::pollOnce() {
  if (task.valid() && task.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    outcome = task.get();
  // 0: still working; 1: done; -1 - rank: failed. The minimum is 1 when all are done, and names a failed rank
  // otherwise: of 1, 0 and -3 it is -3, and rank 2 has failed. One number of each rank decides, so the ranks cannot
  // draw different conclusions.
  int64_t own = !outcome ? 0 : outcome->ok() ? 1 : -1 - world->rank();
  MESHPLAN_ASSIGN_OR_RETURN(int64_t least, agree(own));
  if (least < 0)
    return giveUp(-1 - least);
  return least > 0 ? goOn() : Status();
}

Status CheckpointWriter::poll() {
  Stopwatch stalled(clocks->stalled);
  return phase == Phase::idle ? Status() : pollOnce();
}

Status CheckpointWriter::finish() {
  while (phase != Phase::idle) {
    // Otherwise a rank whose task takes long would be asked in one all-reduce after another.
    if (task.valid())
      task.wait();
    MESHPLAN_RETURN_IF_ERROR(pollOnce());
  }
  return Status();
}

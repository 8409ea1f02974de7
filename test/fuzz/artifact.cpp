//===- artifact.cpp - any bytes as a compiled schedule --------------------===//
//
// Loads an artifact and, if it is accepted, computes everything that ranks compute before a run, because all users
// trust a verified artifact. The checksum at the end would reject every mutation, so it is recomputed.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/artifact.h"
#include "runtime/exec/arguments.h"
#include "runtime/exec/moves/exchanged_experts.h"
#include "runtime/exec/moves/pieces.h"
#include "runtime/exec/rank_view.h"
#include "runtime/schema/checksum.h"
#include "test/fuzz/require.h"

#include <memory>

using namespace meshplan;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

static void seal(uint8_t *data, size_t size) {
  Checksum checksum = checksumOf({data, size});
  std::memcpy(data + size, checksum.data(), checksum.size());
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned int seed) {
  constexpr size_t tail = sizeof(Checksum);
  // One in 64 keeps its mutated form, with a wrong checksum.
  if (size <= tail || maxSize <= tail || seed % 64 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  size_t content = LLVMFuzzerMutate(data, size - tail, maxSize - tail);
  seal(data, content);
  return content + tail;
}

static void checkShard(const RankView &view, int value) {
  std::vector<int64_t> shape = globalShapeOf(view.value(value));
  SliceRanges ranges = view.ranges(value);
  require(checkSlice(ranges, shape).ok(), "what dims leave to a rank lies inside of the tensor");
  // Of its shard, a rank stores what a router chooses.
  if (view.value(value).routed())
    return require(elementCount(view.shape(value)) >= 0, "rows of a balanced routing can be counted");
  Range run = view.run(value);
  require(run.offset >= 0 && run.size >= 0 && run.offset <= elementCount(sliceShape(ranges)) - run.size,
          "a rank's run lies inside of what the dims leave to it");
  int64_t held = 0;
  for (const SliceRanges &slice : view.slices(value)) {
    require(checkSlice(slice, shape).ok(), "a rank's slices lie inside of the tensor");
    held += elementCount(sliceShape(slice));
  }
  require(held == run.size && held == elementCount(view.shape(value)), "a rank's slices are its tensor");
  (void)view.isFirstHolder(value);
}

/// A rank sums columns of the counts without looking again.
static void checkExchange(const RankView &view, const artifact::Start &start, std::span<const int64_t> group) {
  std::vector<int64_t> counts = view.shape(start.counts());
  require(counts.size() == 2 && counts[0] == static_cast<int64_t>(group.size()), "counts have a row for each rank");
  for (const Range &experts : exchangedExperts(view, start, group))
    require(experts.offset >= 0 && experts.size >= 0 && experts.offset <= counts[1] - experts.size,
            "counts have a column for each expert");
}

/// Computes what a rank computes before it runs an instruction.
static void prepare(const RankView &view, const artifact::Instruction &instruction) {
  if (const artifact::Compute *compute = instruction.action_as_Compute())
    (void)argumentsOf(*compute, view);
  if (const artifact::Start *start = instruction.action_as_Start()) {
    std::vector<int64_t> group = view.group(*view.schedule().communicators()->Get(start->communicator()));
    for (int64_t rank : group)
      require(rank >= 0 && rank < view.worldSize(), "a communicator is made of ranks of the mesh");
    if (start->counts() == -1)
      (void)piecesOf(view, *start, group);
    else
      checkExchange(view, *start, group);
  }
}

/// The values of a buffer fit into it.
static void checkBuffers(const RankView &view) {
  for (flatbuffers::uoffset_t i = 0; view.program().buffers() && i < view.program().buffers()->size(); ++i) {
    int64_t bytes = 0;
    for (int32_t value : *view.program().buffers()->Get(i)->values()) {
      int64_t own = elementCount(view.shape(value)) * dtypeSize(view.dtype(value));
      require(own >= 0 && bytes <= INT64_MAX - own, "a buffer can be addressed");
      bytes += own;
    }
  }
}

static void checkProgram(const artifact::Schedule &schedule, const artifact::Program &program) {
  int64_t world = worldSizeOf(meshSizesOf(schedule, program));
  constexpr int64_t mostRanks = 64; // a collective of more takes the time of many small ones
  for (int64_t rank : {int64_t(0), world / 2, world - 1}) {
    RankView view(schedule, program, rank);
    for (size_t value = 0; value < program.values()->size(); ++value)
      checkShard(view, static_cast<int>(value));
    checkBuffers(view);
    if (program.instructions() && world <= mostRanks)
      for (const artifact::Instruction *instruction : *program.instructions())
        prepare(view, *instruction);
  }
}

static void checkSchedule(const artifact::Schedule &schedule) {
  std::unique_ptr<artifact::ScheduleT> copy(schedule.UnPack());
  if (schedule.programs())
    for (const artifact::Program *program : *schedule.programs())
      checkProgram(schedule, *program);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A block of exactly this size, so that the sanitizer sees every read past the end; aligned like a mapped file.
  std::unique_ptr<std::byte[]> bytes(new std::byte[size]);
  std::memcpy(bytes.get(), data, size);
  Expected<const artifact::Schedule *> schedule = verifySchedule({bytes.get(), size});
  if (schedule)
    checkSchedule(**schedule);
  else
    require(!schedule.status().message().empty(), "a refusal has a reason");
  return 0;
}

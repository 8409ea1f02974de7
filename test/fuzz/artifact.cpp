//===- artifact.cpp - any bytes as a compiled schedule --------------------===//
//
// Loads, and reads of what was let through all that a run would read: whoever
// holds a verified artifact trusts it. The checksum at the end would stop every
// mutation, so it is written anew.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/artifact.h"
#include "runtime/artifact/sharding.h"
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
  // One in 64 stays as it is mutated, with a checksum that is wrong.
  if (size <= tail || maxSize <= tail || seed % 64 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  size_t content = LLVMFuzzerMutate(data, size - tail, maxSize - tail);
  seal(data, content);
  return content + tail;
}

static void readShard(const artifact::Value &value, std::span<const int64_t> meshSizes, int64_t rank) {
  std::vector<int64_t> coordinate = coordinateOfRank(rank, meshSizes), shape = globalShapeOf(value);
  std::vector<std::vector<Range>> ranges = localRangesOf(value, meshSizes, coordinate);
  for (size_t dim = 0; dim < ranges.size(); ++dim)
    for (const Range &range : ranges[dim])
      require(range.offset >= 0 && range.size >= 0 && range.offset <= shape[dim] - range.size,
              "a rank holds what lies inside of the tensor");
}

static void readProgram(const artifact::Schedule &schedule, const artifact::Program &program) {
  std::vector<int64_t> meshSizes = meshSizesOf(schedule, program);
  int64_t last = worldSizeOf(meshSizes) - 1;
  if (program.values())
    for (const artifact::Value *value : *program.values())
      for (int64_t rank : {int64_t(0), last / 2, last})
        readShard(*value, meshSizes, rank);
  require(program.constants() == nullptr || program.values() != nullptr, "a constant has a value");
}

static void readSchedule(const artifact::Schedule &schedule) {
  std::unique_ptr<artifact::ScheduleT> copy(schedule.UnPack());
  if (schedule.programs())
    for (const artifact::Program *program : *schedule.programs())
      readProgram(schedule, *program);
  std::vector<int64_t> meshSizes = meshSizesOf(schedule.mesh());
  int64_t last = worldSizeOf(meshSizes) - 1;
  constexpr int64_t mostRanks = 4096; // a list of more takes the time of many small schedules
  if (schedule.communicators())
    for (const artifact::Communicator *communicator : *schedule.communicators())
      if (std::vector<AxisRef> axes = axesOf(communicator->axes()); shardCount(axes) <= mostRanks)
        for (int64_t rank : groupOf(axes, meshSizes, coordinateOfRank(last, meshSizes)))
          require(rank >= 0 && rank <= last, "a communicator is made of ranks of the mesh");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A block of exactly that size, so that the sanitizer sees every read behind the end; aligned as a mapped file is.
  std::unique_ptr<std::byte[]> bytes(new std::byte[size]);
  std::memcpy(bytes.get(), data, size);
  Expected<const artifact::Schedule *> schedule = verifySchedule({bytes.get(), size});
  if (schedule)
    readSchedule(**schedule);
  else
    require(!schedule.status().message().empty(), "a refusal has a reason");
  return 0;
}

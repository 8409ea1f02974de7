//===- load_test.cpp - files: missing, foreign, corrupt -------------------===//

#include "runtime/schema/checksum.h"
#include "test/unit/artifact/build_schedule.h"
#include "test/unit/temporary_directory.h"

#include <cstring>
#include <gmock/gmock.h>
#include <random>

namespace meshplan {
namespace {

std::string writeSchedule(const TemporaryDirectory &directory, const artifact::ScheduleT &schedule) {
  size_t size;
  std::vector<uint64_t> bytes = pack(schedule, size);
  std::string path = directory / "test.sched";
  EXPECT_TRUE(writeFileAtomically(path, std::as_bytes(std::span(bytes)).first(size)).ok());
  return path;
}

const std::string foreign =
    "not a compiled schedule (identifier MPSX expected); help: 'meshplan compile PLAN -o FILE' writes one";

TEST(LoadSchedule, AValidFile) {
  TemporaryDirectory directory;
  Expected<Artifact> artifact = loadSchedule(writeSchedule(directory, buildSchedule()));
  ASSERT_TRUE(artifact.ok()) << artifact.status().message();
  EXPECT_EQ(artifact->schedule().plan_name()->str(), "test");
  Artifact moved = *std::move(artifact);
  EXPECT_EQ(moved.schedule().programs()->Get(0)->instructions()->size(), 8u);
}

TEST(LoadSchedule, TheHashIsThatOfTheContent) {
  TemporaryDirectory directory;
  artifact::ScheduleT schedule = buildSchedule();
  Expected<Artifact> first = loadSchedule(writeSchedule(directory, schedule));
  Hash hash = first->hash();
  EXPECT_EQ(loadSchedule(writeSchedule(directory, schedule))->hash(), hash);
  schedule.plan_name = "other";
  EXPECT_NE(loadSchedule(writeSchedule(directory, schedule))->hash(), hash);
}

TEST(LoadSchedule, MissingAndForeignFiles) {
  TemporaryDirectory directory;
  std::string path = directory / "missing.sched";
  EXPECT_EQ(loadSchedule(path).status().message(), "cannot open '" + path + "': No such file or directory");
  for (std::string text : {"", "abc", "this is a text and not a schedule"}) {
    path = directory / "foreign.sched";
    ASSERT_TRUE(writeFileAtomically(path, std::as_bytes(std::span(text))).ok());
    EXPECT_EQ(loadSchedule(path).status().message(), path + ": " + foreign);
  }
}

TEST(LoadSchedule, AnotherFormatNamesBoth) {
  TemporaryDirectory directory;
  artifact::ScheduleT schedule = buildSchedule();
  schedule.format = artifactFormat + 1;
  std::string path = writeSchedule(directory, schedule);
  Status status = loadSchedule(path).status();
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_EQ(status.message(), path + ": format 10, this program reads format 9; help: compile the plan again");
}

/// In format 8, where the programs are now were the streams: tables of a name.
TEST(LoadSchedule, AFormatOfOtherTablesIsNotCalledDamaged) {
  flatbuffers::FlatBufferBuilder builder;
  flatbuffers::Offset<flatbuffers::String> name = builder.CreateString("compute");
  auto begin = builder.StartTable();
  builder.AddOffset(artifact::Program::VT_NAME, name);
  flatbuffers::Offset<flatbuffers::Table> stream(builder.EndTable(begin));
  auto streams = builder.CreateVector(&stream, 1);
  begin = builder.StartTable();
  builder.AddElement<int32_t>(artifact::Schedule::VT_FORMAT, 8, 0);
  builder.AddOffset(artifact::Schedule::VT_PROGRAMS, streams);
  builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(begin)), artifact::ScheduleIdentifier());
  std::vector<uint8_t> bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  Checksum checksum = checksumOf(bytes);
  bytes.insert(bytes.end(), checksum.begin(), checksum.end());
  Status status = verifySchedule(std::as_bytes(std::span(bytes))).status();
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_EQ(status.message(), "format 8, this program reads format 9; help: compile the plan again");
}

/// Files of format 1 had another identifier, and no checksum.
TEST(LoadSchedule, AnOldFormatIsNotCalledDamaged) {
  size_t size;
  std::vector<uint64_t> words = pack(buildSchedule(), size);
  std::span<std::byte> old = std::as_writable_bytes(std::span(words)).first(size - sizeof(uint64_t));
  std::memcpy(&old[4], "MPSC", 4);
  EXPECT_EQ(verifySchedule(old).status().message(),
            "format 1, this program reads format 9; help: compile the plan again");
}

/// The valid file, in which the vector at `field` of a table is located after the content, where its elements are
/// misaligned by 4 bytes.
template <typename Element>
std::string misplacedError(const flatbuffers::Vector<Element> &(*vectorOf)(const artifact::Schedule &),
                           const flatbuffers::Table &(*tableOf)(const artifact::Schedule &),
                           flatbuffers::voffset_t field) {
  size_t size;
  std::vector<uint64_t> words = pack(buildSchedule(), size);
  const artifact::Schedule &schedule = **verifySchedule(std::as_bytes(std::span(words)).first(size));
  const flatbuffers::Vector<Element> &vector = vectorOf(schedule);
  auto *begin = reinterpret_cast<const uint8_t *>(words.data());
  size_t reference = tableOf(schedule).GetAddressOf(field) - begin, place = words.size() * sizeof(uint64_t);
  size_t length = sizeof(uint32_t) + vector.size() * sizeof(std::remove_pointer_t<Element>);
  std::vector<uint64_t> changed((place + length + sizeof(Checksum)) / sizeof(uint64_t) + 1);
  auto *target = reinterpret_cast<std::byte *>(changed.data());
  std::memcpy(target, begin, size);
  std::memcpy(target + place, vector.Data() - sizeof(uint32_t), length);
  auto distance = static_cast<uint32_t>(place - reference);
  std::memcpy(target + reference, &distance, sizeof(distance));
  std::span<std::byte> file(target, place + length + sizeof(Checksum));
  seal(file);
  return verifySchedule(file).status().message();
}

const artifact::Arg &argAt(const artifact::Schedule &schedule, int index) {
  return *schedule.programs()->Get(0)->instructions()->Get(linear)->action_as_Compute()->args()->Get(index);
}

template <typename Table> const flatbuffers::Table &tableOf(const Table &table) {
  return reinterpret_cast<const flatbuffers::Table &>(table);
}

using artifact::Schedule;

const artifact::Dim &dimAt(const Schedule &schedule) {
  return *schedule.programs()->Get(0)->values()->Get(part)->dims()->Get(1);
}

TEST(LoadSchedule, ElementsLieWhereTheirTypeMay) {
  auto axes = [](const Schedule &s) -> const auto & { return *s.communicators()->Get(1)->axes(); };
  EXPECT_EQ(misplacedError<const artifact::AxisRef *>(
                axes, [](const Schedule &s) -> const auto & { return tableOf(*s.communicators()->Get(1)); },
                artifact::Communicator::VT_AXES),
            "communicators[1]: axes: not aligned to 8 bytes");
  auto ints = [](const Schedule &s) -> const auto & { return *argAt(s, 3).ints(); };
  EXPECT_EQ(misplacedError<const artifact::IntExpr *>(
                ints, [](const Schedule &s) -> const auto & { return tableOf(argAt(s, 3)); }, artifact::Arg::VT_INTS),
            "programs[0]: instructions[0]: args[3]: ints: not aligned to 8 bytes");
  auto reals = [](const Schedule &s) -> const auto & { return *argAt(s, 5).reals(); };
  EXPECT_EQ(misplacedError<double>(
                reals, [](const Schedule &s) -> const auto & { return tableOf(argAt(s, 5)); }, artifact::Arg::VT_REALS),
            "programs[0]: instructions[0]: args[5]: reals: not aligned to 8 bytes");
  EXPECT_EQ(misplacedError<const artifact::DimPart *>(
                [](const Schedule &s) -> const auto & { return *dimAt(s).parts(); },
                [](const Schedule &s) -> const auto & { return tableOf(dimAt(s)); }, artifact::Dim::VT_PARTS),
            "programs[0]: values[5]: dims[1]: parts: not aligned to 8 bytes");
}

class CorruptSchedule : public testing::Test {
protected:
  CorruptSchedule() { words = pack(buildSchedule(), size); }

  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words)).first(size); }

  std::vector<uint64_t> words;
  size_t size;
  const std::string damaged = "the artifact is damaged: its checksum does not match its content; "
                              "help: compile the plan again, or copy the file again";
};

TEST_F(CorruptSchedule, AFlippedBitAnywhereIsNoticed) {
  for (size_t bit = 0; bit < size * 8; ++bit) {
    std::byte &target = bytes()[bit / 8];
    target ^= static_cast<std::byte>(1 << bit % 8);
    std::string expected = bit / 32 == 1 ? foreign : damaged; // the identifier: bytes 4 to 7
    ASSERT_EQ(verifySchedule(bytes()).status().message(), expected) << "bit " << bit;
    target ^= static_cast<std::byte>(1 << bit % 8);
  }
}

TEST_F(CorruptSchedule, TruncatedAnywhere) {
  // A copy of exactly that size, so that a sanitizer sees every read past the end.
  for (size_t length = 0; length < size; length += length < 64 ? 1 : 64) {
    std::vector<uint64_t> storage(length / 8 + 1);
    std::byte *begin = reinterpret_cast<std::byte *>(storage.data());
    std::memcpy(begin, bytes().data(), length);
    Expected<const artifact::Schedule *> schedule = verifySchedule({begin, length});
    EXPECT_FALSE(schedule.ok()) << length;
    if (length >= 8) {
      EXPECT_EQ(schedule.status().message(), damaged);
    }
  }
}

/// Reads everything that a run would read, so that a sanitizer sees what verification accepted.
int64_t readAll(const artifact::Schedule &schedule) {
  std::unique_ptr<artifact::ScheduleT> copy(schedule.UnPack());
  size_t packedSize;
  return static_cast<int64_t>(pack(*copy, packedSize).size());
}

/// The checksum does not tell who wrote the file.
TEST_F(CorruptSchedule, FlippedBytesUnderAChecksumAreRefusedOrStillValid) {
  std::mt19937 generator(1);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::byte &target = bytes()[generator() % size];
    std::byte original = target;
    target = static_cast<std::byte>(generator());
    seal(bytes());
    if (Expected<const artifact::Schedule *> schedule = verifySchedule(bytes()))
      EXPECT_GT(readAll(**schedule), 0);
    else
      ++refused;
    target = original;
  }
  seal(bytes());
  EXPECT_GT(refused, 500);
  EXPECT_TRUE(verifySchedule(bytes()).ok()) << "the flips were undone";
}

TEST_F(CorruptSchedule, SeveralFlipsUnderAChecksum) {
  std::mt19937 generator(2);
  std::vector<uint64_t> original = words;
  for (int i = 0; i < 500; ++i) {
    for (int flip = 0; flip < 8; ++flip)
      bytes()[8 + generator() % (size - 8)] ^= static_cast<std::byte>(1 << generator() % 8);
    seal(bytes());
    if (Expected<const artifact::Schedule *> schedule = verifySchedule(bytes())) {
      EXPECT_GT(readAll(**schedule), 0);
    }
    words = original;
  }
}

} // namespace
} // namespace meshplan

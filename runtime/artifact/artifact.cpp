//===- artifact.cpp - a verified schedule ---------------------------------===//

#include "runtime/artifact/artifact.h"

#include "runtime/artifact/meaning.h"
#include "runtime/schema/checksum.h"
#include "runtime/schema/format_of.h"

#include <algorithm>

namespace meshplan {

namespace {

// The tables of the schema nest eight deep.
constexpr flatbuffers::uoffset_t maxDepth = 16;
constexpr size_t leastTables = 1'000'000;

/// The file identifier of format 1, which had no checksum.
constexpr const char *firstIdentifier = "MPSC";

bool isWellFormed(std::span<const uint8_t> content) {
  // The verifier counts every visit of a table. A reference takes at least 4 bytes, so a file whose tables are not
  // shared stays below this limit. A damaged file that refers to the same tables over and over exceeds it.
  auto maxTables = static_cast<flatbuffers::uoffset_t>(std::max(leastTables, content.size() / 4));
  flatbuffers::Verifier verifier(content.data(), content.size(), maxDepth, maxTables);
  return artifact::VerifyScheduleBuffer(verifier);
}

Status otherFormat(int32_t format) {
  return Status::error(StatusCode::unsupported, "format ", format, ", this program reads format ", artifactFormat,
                       "; help: compile the plan again");
}

} // namespace

Expected<const artifact::Schedule *> verifySchedule(std::span<const std::byte> bytes) {
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return Status::error(StatusCode::corrupted, bytes.size(), " bytes are more than an artifact can have");
  const uint8_t *data = reinterpret_cast<const uint8_t *>(bytes.data());
  constexpr size_t headerSize = sizeof(flatbuffers::uoffset_t) + flatbuffers::FlatBufferBuilder::kFileIdentifierLength;
  // From the outside in: each check may only read what the checks before it have validated. The format is checked
  // before the tables, which another format has others of, so that its file is not reported as damaged.
  if (bytes.size() >= headerSize && flatbuffers::BufferHasIdentifier(data, firstIdentifier))
    return otherFormat(1);
  if (bytes.size() < headerSize || !artifact::ScheduleBufferHasIdentifier(data))
    return Status(StatusCode::corrupted, "not a compiled schedule (identifier MPSX expected); help: "
                                         "'meshplan compile PLAN -o FILE' writes one");
  std::span<const uint8_t> file(data, bytes.size());
  if (!hasRightChecksum(file))
    return Status(StatusCode::corrupted, "the artifact is damaged: its checksum does not match its content; "
                                         "help: compile the plan again, or copy the file again");
  std::optional<int32_t> format = formatOf(contentOf(file));
  if (format && *format != artifactFormat)
    return otherFormat(*format);
  if (!format || !isWellFormed(contentOf(file)))
    return Status(StatusCode::corrupted, "the artifact is not well-formed; help: compile the plan again");
  const artifact::Schedule *schedule = artifact::GetSchedule(data);
  MESHPLAN_RETURN_IF_ERROR(verifyMeaning(*schedule));
  return schedule;
}

Expected<Artifact> loadSchedule(const std::string &path) {
  MESHPLAN_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  Expected<const artifact::Schedule *> schedule = verifySchedule(file.bytes());
  if (!schedule)
    return schedule.status().withContext(path);
  // The pointer stays valid: moving the file moves the owner of the map, not the map.
  return Artifact(std::move(file), *schedule);
}

} // namespace meshplan

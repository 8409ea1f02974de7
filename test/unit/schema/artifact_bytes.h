//===- artifact_bytes.h - bytes of artifacts, valid or not ------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_SCHEMA_ARTIFACT_BYTES_H
#define MESHPLAN_TEST_UNIT_SCHEMA_ARTIFACT_BYTES_H

#include "runtime/schema/checksum.h"
#include "runtime/schema/schedule_generated.h"

#include <vector>

namespace meshplan {

inline std::vector<uint8_t> withChecksum(std::vector<uint8_t> content) {
  Checksum checksum = checksumOf(content);
  content.insert(content.end(), checksum.begin(), checksum.end());
  return content;
}

/// The content of an artifact, which precedes its checksum.
inline std::vector<uint8_t> packed(const artifact::ScheduleT &schedule) {
  flatbuffers::FlatBufferBuilder builder;
  artifact::FinishScheduleBuffer(builder, artifact::CreateSchedule(builder, &schedule));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_SCHEMA_ARTIFACT_BYTES_H

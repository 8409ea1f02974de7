//===- format_of.h - the format of a file -----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_FORMAT_OF_H
#define MESHPLAN_RUNTIME_SCHEMA_FORMAT_OF_H

#include "runtime/schema/schedule_generated.h"

#include <optional>
#include <span>

namespace meshplan {

/// Schedule.format of a file, without its checksum, whose other tables may be those of another format: they are not
/// read. None if the root table is not well-formed. Tables of this format are verified only after the format is known.
inline std::optional<int32_t> formatOf(std::span<const uint8_t> content) {
  flatbuffers::Verifier verifier(content.data(), content.size());
  flatbuffers::uoffset_t root = verifier.VerifyOffset(0);
  if (root == 0)
    return std::nullopt;
  const auto *table = reinterpret_cast<const flatbuffers::Table *>(content.data() + root);
  constexpr flatbuffers::voffset_t field = artifact::Schedule::VT_FORMAT;
  if (!table->VerifyTableStart(verifier) || !table->VerifyField<int32_t>(verifier, field, sizeof(int32_t)))
    return std::nullopt;
  return table->GetField<int32_t>(field, 0);
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_FORMAT_OF_H

//===- format.h - the version of the artifact's meaning ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_FORMAT_H
#define MESHPLAN_RUNTIME_SCHEMA_FORMAT_H

#include <cstdint>

namespace meshplan {

/// The format that this compiler writes and this runtime reads (Schedule.format). Raised when the meaning of a field
/// changes; the runtime refuses another one.
inline constexpr int32_t artifactFormat = 9;

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_FORMAT_H

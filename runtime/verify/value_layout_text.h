//===- value_layout_text.h - shardings in messages --------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_VALUE_LAYOUT_TEXT_H
#define MESHPLAN_RUNTIME_VERIFY_VALUE_LAYOUT_TEXT_H

#include "runtime/artifact/artifact.h"

namespace meshplan {

/// Describes the sharding of a value: "[48 over tp, 32] f32"; for a flat value "[48 over tp, 32] f32 flat over dp". A
/// sub-axis has the axis's name and the sub-axis's size: "tp:2".
std::string layoutText(const artifact::Schedule &schedule, const artifact::Value &value);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_VALUE_LAYOUT_TEXT_H

//===- value_layout_text.cpp - shardings in messages ----------------------===//

#include "runtime/verify/value_layout_text.h"

#include "runtime/artifact/sharding.h"

using namespace meshplan;

static std::string axisText(const artifact::Schedule &schedule, const AxisRef &axis) {
  const artifact::Axis &whole = *schedule.mesh()->Get(static_cast<flatbuffers::uoffset_t>(axis.axis));
  return whole.name()->str() + (whole.size() == axis.size ? "" : ":" + std::to_string(axis.size));
}

/// "over dp, tp"; empty without axes.
static std::string axesText(const artifact::Schedule &schedule, const AxisRefVector *axes) {
  std::string text;
  for (const AxisRef &axis : axesOf(axes))
    text += (text.empty() ? "over " : ", ") + axisText(schedule, axis);
  return text;
}

std::string meshplan::layoutText(const artifact::Schedule &schedule, const artifact::Value &value) {
  std::string text;
  for (const artifact::Dim *dim : *value.dims()) {
    text += (text.empty() ? "" : ", ") + std::to_string(dim->extent());
    if (std::string axes = axesText(schedule, dim->axes()); !axes.empty())
      text += " " + axes;
  }
  text = "[" + text + "] " + std::string(dtypeName(dtypeOf(value.dtype())));
  std::string flat = axesText(schedule, value.flat_axes());
  return flat.empty() ? text : text + " flat " + flat;
}

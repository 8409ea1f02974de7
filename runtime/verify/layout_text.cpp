//===- layout_text.cpp - how a value is divided, in words -----------------===//

#include "runtime/verify/layout_text.h"

#include "runtime/artifact/sharding.h"

using namespace meshplan;

static std::string axisText(const artifact::Schedule &schedule, const AxisRef &axis) {
  const artifact::Axis &whole = *schedule.mesh()->Get(static_cast<flatbuffers::uoffset_t>(axis.axis));
  return whole.name()->str() + (whole.size() == axis.size ? "" : ":" + std::to_string(axis.size));
}

std::string meshplan::layoutText(const artifact::Schedule &schedule, const artifact::Value &value) {
  std::string text;
  for (const artifact::Dim *dim : *value.dims()) {
    text += (text.empty() ? "" : ", ") + std::to_string(dim->extent());
    const char *separator = " over ";
    for (const AxisRef &axis : axesOf(dim->axes())) {
      text += separator + axisText(schedule, axis);
      separator = ", ";
    }
  }
  return "[" + text + "] " + std::string(dtypeName(dtypeOf(value.dtype())));
}

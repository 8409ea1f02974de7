//===- loss_scale.h - which loss scales exist -------------------*- C++ -*-===//
//
// The language, the dialects, the loader of the artifact and the runtime agree on it. Standard library only, no state.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_LOSS_SCALE_H
#define MESHPLAN_RUNTIME_SCHEMA_LOSS_SCALE_H

#include <cmath>

namespace meshplan {

/// True if the scale is positive, and it and its inverse are normal numbers of f32: gradients can then be scaled and
/// unscaled.
inline bool isLossScale(double number) {
  auto scale = static_cast<float>(number);
  return number > 0 && std::isnormal(scale) && std::isnormal(1 / scale);
}

/// True if a scale that is multiplied by these returns to the range: `growth` never shrinks it and `backoff` always
/// does.
inline bool canChangeScale(double growth, double backoff) {
  return std::isfinite(growth) && growth >= 1 && backoff > 0 && backoff < 1;
}

/// The numbers for which isLossScale is true, for messages.
inline constexpr char lossScaleRange[] = "from 1.2e-38 to 8.5e37, so that it and its inverse are numbers of f32";

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_LOSS_SCALE_H

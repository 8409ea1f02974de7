//===- weights_fingerprint.h - are these still the weights -------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_WEIGHTS_FINGERPRINT_H
#define MESHPLAN_RUNTIME_CHECKPOINT_WEIGHTS_FINGERPRINT_H

#include "runtime/data/tensor_source.h"

namespace meshplan {

/// Tells weights apart that differ by accident, without reading all of them: names, types, shapes, and the first and
/// the last 4 KiB of each tensor that lies in its file as it is. Hexadecimal.
std::string fingerprintOf(const TensorSource &weights);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_WEIGHTS_FINGERPRINT_H

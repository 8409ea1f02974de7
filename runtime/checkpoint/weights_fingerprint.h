//===- weights_fingerprint.h - fingerprint of weights -----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_WEIGHTS_FINGERPRINT_H
#define MESHPLAN_RUNTIME_CHECKPOINT_WEIGHTS_FINGERPRINT_H

#include "runtime/data/tensor_source.h"

namespace meshplan {

/// Detects accidental changes of weights without reading all of them. It covers names, dtypes, shapes, and the first
/// and last 4 KiB of each tensor that is stored uncompressed. Hexadecimal.
std::string fingerprintOf(const TensorSource &weights);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_WEIGHTS_FINGERPRINT_H

//===- event_file.h - TensorBoard event files -------------------*- C++ -*-===//
//
// An event file for TensorBoard: records with an `Event` of tensorflow/core/util/event.proto each. Only the fields that
// scalars need, encoded as protocol buffers by protozero. Google's protobuf cannot be linked, because LibTorch exports
// the symbols of its own copy.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TRAIN_EVENT_FILE_H
#define MESHPLAN_RUNTIME_TRAIN_EVENT_FILE_H

#include "runtime/train/report.h"

namespace meshplan {

/// Creates an event file in `folder`, and the folder if necessary. Scalar names have TensorBoard's groups:
/// "train/loss", "evaluation/loss". `io` if the folder or the file cannot be written.
Expected<std::unique_ptr<ReportSink>> openEventFile(const std::string &folder);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_EVENT_FILE_H

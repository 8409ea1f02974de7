//===- event_file.h - the numbers of a run for TensorBoard -------*- C++ -*-===//
//
// A file of records, each an `Event` of tensorflow/core/util/event.proto: the
// fields that scalars need, in the encoding of protocol buffers. protozero writes it: LibTorch
// exports the symbols of a protobuf of its own.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TRAIN_EVENT_FILE_H
#define MESHPLAN_RUNTIME_TRAIN_EVENT_FILE_H

#include "runtime/train/report.h"

namespace meshplan {

/// Makes an event file in `folder`, and the folder where there is none. Scalars are named as TensorBoard groups them:
/// "train/loss", "evaluation/loss". `io` when the folder or the file cannot be written.
Expected<std::unique_ptr<ReportSink>> openEventFile(const std::string &folder);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_EVENT_FILE_H

//===- argument_reader.h - JSON argument to Argument -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_ARGUMENT_READER_H
#define MESHPLAN_COMPILER_ARCHIVE_ARGUMENT_READER_H

#include "compiler/archive/graph_reader.h"

namespace meshplan::archive {

/// Reads one argument of an operator. Devices give nothing, because the runtime chooses the device. Strided layouts
/// give nothing, because all tensors are strided. Other kinds that cannot be represented are an error in the document,
/// and give nothing.
std::optional<Argument> readArgument(const Json &argument, const GraphNames &names, GraphReader &graph,
                                     JsonDocument &document);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_ARGUMENT_READER_H

//===- signature_reader.h - meaning of a graph's inputs, outputs -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_SIGNATURE_READER_H
#define MESHPLAN_COMPILER_ARCHIVE_SIGNATURE_READER_H

#include "compiler/archive/graph_reader.h"
#include "compiler/archive/payloads.h"

namespace meshplan::archive {

/// The parts of the archive that the signature refers to.
struct SignatureContext {
  JsonDocument &document;
  GraphReader &graph;
  const GraphNames &names;
  const ZipArchive &archive;
  const PayloadTable &weights;
  const PayloadTable &constants;
  std::vector<Diagnostic> &errors;
};

/// Fills parameters, buffers, constants, inputs, outputs and buffer updates of `program` from the GraphModule `module`,
/// and loads the constants.
void readSignature(const Json &module, const SignatureContext &context, ExportedProgram &program);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_SIGNATURE_READER_H

//===- read_archive.h - .pt2 file to exported program ------------*- C++ -*-===//
//
// Reads the archive that torch.export.save writes: a zip of JSON and raw
// tensors. Needs no Python. Weights are not loaded, only located.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_READ_ARCHIVE_H
#define MESHPLAN_COMPILER_ARCHIVE_READ_ARCHIVE_H

#include "compiler/archive/diagnostic.h"
#include "compiler/archive/exported_program.h"

#include <optional>

namespace meshplan::archive {

/// Major version of the archive's graph schema that is understood.
constexpr int64_t supportedSchemaMajor = 8;

/// Either a program and no errors, or at least one error.
struct ReadResult {
  std::optional<ExportedProgram> program;
  std::vector<Diagnostic> errors;
};

/// Reads and cleans the program of the archive at `path`. Refused, each with a
/// Diagnostic: a file that is missing, truncated or not a zip; another format
/// or version; more than one model; a graph that writes in place or updates
/// batch-norm statistics in hiding; a buffer or constant without bytes; any
/// argument or signature entry whose meaning is unknown.
/// No global state; may run on several threads at once.
ReadResult readArchive(const std::string &path);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_READ_ARCHIVE_H

//===- read_archive.h - .pt2 file to exported program ------------*- C++ -*-===//
//
// Reads the archive that torch.export.save writes: a zip of JSON and raw
// tensors. Needs no Python. Weights are not loaded, only located; of buffers see readBufferValues.
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
/// batch-norm statistics in hiding; complex tensors that cannot be pairs of real
/// ones; a buffer or constant without bytes; any
/// argument or signature entry whose meaning is unknown.
/// No global state; may run on several threads at once.
ReadResult readArchive(const std::string &path);

/// A text that stands beside the program in an archive: one of `extra_files` of torch.export.save.
struct ExtraFile {
  std::optional<std::string> text; ///< nothing where the archive has none of this name
  std::vector<Diagnostic> errors;
};

/// Reads the extra file `name` of the archive at `path`.
ExtraFile readExtraFile(const std::string &path, const std::string &name);

/// What is read of a persistent buffer: more than tables and masks need, less than a weight that is kept as a buffer.
inline constexpr int64_t maxBufferBytes = int64_t(64) << 20;

/// Gives the persistent buffers of `program`, which is of the archive at `path`, the values that they were exported
/// with; the digest then says which. A buffer stays without where the archive has no bytes of its type, damaged ones,
/// or more than `maxBufferBytes`: weights may stand in, so that it is no error.
void readBufferValues(const std::string &path, ExportedProgram &program);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_READ_ARCHIVE_H

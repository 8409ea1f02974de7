//===- read_archive.h - .pt2 file to exported program ------------*- C++ -*-===//
//
// Reads the archive that torch.export.save writes: a zip of JSON and raw tensors. Needs no Python. Weights are not
// loaded, only located; for buffers see readBufferValues.
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

/// Reads and normalizes the program of the archive at `path`. Refused, each with a Diagnostic: a file that is missing,
/// truncated or not a zip; another format or version; more than one model; a graph that writes in place, updates the
/// statistics of norms as a hidden side effect, or reads by strides; complex tensors that cannot be split into pairs; a
/// buffer or constant without bytes; any argument or signature entry with an unknown meaning. No global state; may run
/// on several threads at once.
ReadResult readArchive(const std::string &path);

/// A text beside the program in an archive: one of `extra_files` of torch.export.save.
struct ExtraFile {
  std::optional<std::string> text; ///< nothing if the archive has no such file
  std::vector<Diagnostic> errors;
};

/// Reads the extra file `name` of the archive at `path`.
ExtraFile readExtraFile(const std::string &path, const std::string &name);

/// Size limit for reading a persistent buffer: enough for tables and masks, too little for a weight that is kept as a
/// buffer.
inline constexpr int64_t maxBufferBytes = int64_t(64) << 20;

/// Gives the persistent buffers of `program`, which was read from the archive at `path`, the values that they were
/// exported with; the digest then includes them. A buffer gets no value if the archive has no bytes of its type,
/// damaged bytes, or more than `maxBufferBytes`. This is not an error, because a file of weights may supply the buffer.
void readBufferValues(const std::string &path, ExportedProgram &program);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_READ_ARCHIVE_H

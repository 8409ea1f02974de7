//===- payloads.h - tensors stored in an archive -----------------*- C++ -*-===//
//
// `data/weights` and `data/constants` of an archive hold raw storages, each
// with a JSON table from tensor name to storage, shape, strides and offset.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_PAYLOADS_H
#define MESHPLAN_COMPILER_ARCHIVE_PAYLOADS_H

#include "compiler/archive/exported_program.h"
#include "compiler/archive/json_document.h"
#include "compiler/archive/zip_archive.h"
#include "llvm/ADT/StringMap.h"

namespace meshplan::archive {

/// One tensor of a table.
struct Payload {
  std::string member; ///< name in the zip, with its folder
  bool pickled = false;
  ScalarType type = ScalarType::Float32;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides; ///< in elements
  int64_t offset = 0;           ///< in elements
};

using PayloadTable = llvm::StringMap<Payload>;

/// Reads a table. `folder` is the folder of its storages, with a slash at the end.
PayloadTable readPayloadTable(JsonDocument &document, llvm::StringRef folder);

/// Whether the tensor has the type and shape that the graph gives `value`.
bool hasTypeOf(const Payload &payload, const Value &value);

/// Turns a complex tensor into one with real and imaginary parts in a last dim; others are unchanged. No bytes are
/// copied.
Payload inParts(Payload payload);

/// Whether the storage of `payload` has bytes; on the meta device it has none.
bool hasBytes(const Payload &payload, const ZipArchive &archive);

/// The tensor's bytes, made contiguous. Errors, which name `what` (such as `buffer 'rotary.inv_freq'`): no bytes, a
/// pickled tensor, too few bytes. A tensor whose strides repeat elements has more bytes than its storage. `growth` sums
/// this excess over all constants of an archive; above a limit it is an error.
std::optional<ConstantData> loadConstant(const Payload &payload, const std::string &what, const ZipArchive &archive,
                                         int64_t &growth, std::vector<Diagnostic> &errors);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_PAYLOADS_H

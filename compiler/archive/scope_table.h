//===- scope_table.h - module stacks to scopes -------------------*- C++ -*-===//
//
// Every node of an archive has `nn_module_stack`, a string of `key,path,class` entries from the model down, joined by
// `;`. The second call of a module has a key that ends in `@1`. The table makes one scope for each distinct prefix.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_SCOPE_TABLE_H
#define MESHPLAN_COMPILER_ARCHIVE_SCOPE_TABLE_H

#include "compiler/archive/exported_program.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace meshplan::archive {

/// One entry of a module stack. Views into the text.
struct ModuleStackEntry {
  llvm::StringRef key;
  llvm::StringRef path;
  llvm::StringRef className;
};

/// Splits a module stack. Delimiters inside brackets belong to a name. Nothing if an entry does not have three fields.
std::optional<llvm::SmallVector<ModuleStackEntry>> splitModuleStack(llvm::StringRef text);

class ScopeTable {
public:
  explicit ScopeTable(std::vector<Scope> &scopes) : scopes(scopes) {}

  /// Index of the innermost scope; -1 for a node that the exporter inserted without a module; nothing if `text` is
  /// malformed.
  std::optional<int32_t> find(llvm::StringRef text);

private:
  int32_t findChild(int32_t parent, const ModuleStackEntry &entry);

  std::vector<Scope> &scopes;
  llvm::StringMap<int32_t> byStack;
  llvm::StringMap<int32_t> byParentAndKey;
};

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_SCOPE_TABLE_H

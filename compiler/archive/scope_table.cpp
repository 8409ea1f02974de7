//===- scope_table.cpp - module stacks to scopes -----------------*- C++ -*-===//

#include "compiler/archive/scope_table.h"

namespace meshplan::archive {

namespace {

/// The key that the exporter writes for nodes that it inserts without a module.
constexpr llvm::StringRef noModuleKey = "_empty_nn_module_stack_from_metadata_hook";

llvm::SmallVector<llvm::StringRef> splitOutsideBrackets(llvm::StringRef text, char delimiter) {
  llvm::SmallVector<llvm::StringRef> parts;
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '(' || c == '[') {
      ++depth;
    } else if (c == ')' || c == ']') {
      --depth;
    } else if (c == delimiter && depth == 0) {
      parts.push_back(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push_back(text.drop_front(start));
  return parts;
}

int32_t callIndex(llvm::StringRef key) {
  int32_t call = 0;
  return key.rsplit('@').second.getAsInteger(10, call) ? 0 : call;
}

} // namespace

std::optional<llvm::SmallVector<ModuleStackEntry>> splitModuleStack(llvm::StringRef text) {
  llvm::SmallVector<ModuleStackEntry> entries;
  for (llvm::StringRef part : splitOutsideBrackets(text, ';')) {
    llvm::SmallVector<llvm::StringRef> fields = splitOutsideBrackets(part, ',');
    if (fields.size() != 3)
      return std::nullopt;
    entries.push_back({fields[0], fields[1], fields[2]});
  }
  return entries;
}

std::optional<int32_t> ScopeTable::find(llvm::StringRef text) {
  // A module has thousands of nodes with the same text.
  auto known = byStack.find(text);
  if (known != byStack.end())
    return known->second;
  auto entries = splitModuleStack(text);
  if (!entries)
    return std::nullopt;
  int32_t scope = -1;
  for (const ModuleStackEntry &entry : *entries)
    if (entry.key != noModuleKey)
      scope = findChild(scope, entry);
  byStack[text] = scope;
  return scope;
}

int32_t ScopeTable::findChild(int32_t parent, const ModuleStackEntry &entry) {
  // By key, not by path: the key counts the calls of a module, and each call is a scope of its own.
  std::string name = std::to_string(parent) + "," + entry.key.str();
  auto [it, isNew] = byParentAndKey.try_emplace(name, int32_t(scopes.size()));
  if (isNew)
    scopes.push_back({parent, entry.path.split('@').first.str(), entry.className.str(), callIndex(entry.key)});
  return it->second;
}

} // namespace meshplan::archive

//===- layer_names.cpp - names of modules in messages ----------------------===//

#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <vector>

using llvm::StringRef;

std::string meshplan::withoutIndices(StringRef name) {
  std::vector<StringRef> components;
  for (StringRef component : llvm::split(name, '.'))
    components.push_back(llvm::all_of(component, llvm::isDigit) && !component.empty() ? "*" : component);
  return llvm::join(components, ".");
}

std::string meshplan::moduleText(StringRef path) { return path.empty() ? "the root module" : ("'" + path + "'").str(); }

std::string meshplan::operatorText(StringRef target, std::optional<StringRef> module) {
  return ("'" + target + "' in " + moduleText(module.value_or(""))).str();
}

bool meshplan::isInside(llvm::StringRef path, llvm::StringRef outer) {
  if (outer.empty())
    return !path.empty();
  return path.consume_front(outer) && path.starts_with(".");
}

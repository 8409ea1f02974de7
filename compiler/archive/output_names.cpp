//===- output_names.cpp - names of the leaves of an out-spec -----*- C++ -*-===//

#include "compiler/archive/output_names.h"

namespace meshplan::archive {

namespace {

/// Keys of a container's children. The context of a dict or a registered class is a JSON text with its keys; that of a
/// tuple has none.
std::vector<std::string> childNames(const Json &context, size_t count) {
  std::vector<std::string> names;
  if (context.is_string()) {
    Json keys = Json::parse(context.get_ref<const std::string &>(), nullptr, /*allow_exceptions=*/false);
    if (keys.is_array() && keys.size() == count)
      for (const Json &key : keys)
        names.push_back(key.is_string()       ? key.get<std::string>()
                        : key.is_structured() ? std::to_string(names.size())
                                              : key.dump());
  }
  for (size_t i = names.size(); i < count; ++i)
    names.push_back(std::to_string(i));
  return names;
}

void collectLeaves(JsonDocument &document, const Json &node, const std::string &path,
                   std::vector<std::string> &leaves) {
  const Json &children = document.array(document.member(node, "children_spec"));
  if (document.member(node, "type").is_null()) {
    leaves.push_back(path);
    return;
  }
  std::vector<std::string> names = childNames(document.member(node, "context"), children.size());
  for (size_t i = 0; i < children.size(); ++i)
    collectLeaves(document, children[i], path.empty() ? names[i] : (llvm::Twine(path) + "." + names[i]).str(), leaves);
}

} // namespace

std::vector<std::string> treeLeafNames(JsonDocument &treeSpec) {
  std::vector<std::string> leaves;
  const Json &versioned = treeSpec.array(treeSpec.root());
  if (versioned.size() != 2)
    treeSpec.fail(treeSpec.root(), "expected a version and a tree");
  else
    collectLeaves(treeSpec, versioned[1], "", leaves);
  if (leaves.size() == 1 && leaves[0].empty())
    leaves[0] = "0";
  return leaves;
}

} // namespace meshplan::archive

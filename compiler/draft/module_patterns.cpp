//===- module_patterns.cpp - modules as patterns of a plan ----------------===//

#include "compiler/draft/module_patterns.h"
#include "compiler/draft/layer_numbers.h"
#include "compiler/draft/plan_words.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace meshplan;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Alternatives
//===----------------------------------------------------------------------===//

/// The longest suffix that all names share, starting at an underscore; no name may consist of it alone.
static StringRef commonSuffix(const std::vector<std::string> &names) {
  StringRef first = names.front();
  for (size_t at = first.find('_'); at != StringRef::npos; at = first.find('_', at + 1)) {
    StringRef suffix = first.drop_front(at);
    auto hasIt = [&](const std::string &name) {
      return name.size() > suffix.size() && StringRef(name).ends_with(suffix);
    };
    if (llvm::all_of(names, hasIt))
      return suffix;
  }
  return "";
}

/// The longest prefix that all names share, ending at an underscore or before a number at the end of all names.
static StringRef commonPrefix(const std::vector<std::string> &names) {
  StringRef first = names.front(), stem = first.rtrim("0123456789");
  auto isNumbered = [&](StringRef name) {
    return !stem.empty() && name.size() > stem.size() && name.rtrim("0123456789") == stem;
  };
  if (llvm::all_of(names, isNumbered))
    return stem;
  for (size_t at = first.rfind('_'); at != StringRef::npos; at = first.take_front(at).rfind('_')) {
    StringRef prefix = first.take_front(at + 1);
    auto hasIt = [&](const std::string &name) {
      return name.size() > prefix.size() && StringRef(name).starts_with(prefix);
    };
    if (llvm::all_of(names, hasIt))
      return prefix;
  }
  return "";
}

std::string meshplan::alternatives(const std::vector<std::string> &names) {
  if (names.size() == 1)
    return names.front();
  StringRef suffix = commonSuffix(names), prefix = suffix.empty() ? commonPrefix(names) : "";
  std::vector<StringRef> different;
  for (StringRef name : names)
    different.push_back(name.drop_front(prefix.size()).drop_back(suffix.size()));
  return prefix.str() + "{" + llvm::join(different, ", ") + "}" + suffix.str();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// Modules that differ only in the numbers of their layers and have the same label.
struct LayerGroup {
  std::string key; ///< "layers.*.up"
  std::string label;
  std::vector<size_t> modules;
  size_t depth = 0; ///< how many numbers, from the end of the path, all modules share
};

} // namespace

/// The number of the path counted from its end: the last number for 0, the one before for 1.
static std::string lastNumber(StringRef path, size_t numbersAfter) {
  llvm::SmallVector<StringRef> components(llvm::split(path, '.'));
  for (StringRef component : llvm::reverse(components))
    if (llvm::all_of(component, llvm::isDigit) && numbersAfter-- == 0)
      return component.str();
  return "";
}

/// True if the path needs no quotes in a plan. The path of the root is empty.
static bool isPlain(StringRef path) {
  return !path.empty() && path != "rest" &&
         llvm::all_of(path, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
}

/// One pattern for the group if there is one; otherwise the group is split by the last number that differs, and so on.
static std::vector<ModulePattern> patternsOfGroup(const LayerGroup &group, const std::vector<LabelledModule> &modules,
                                                  const LayerNumbers &layers) {
  std::vector<std::string> paths;
  for (size_t index : group.modules)
    paths.push_back(modules[index].path);
  if (isPlain(paths.front()))
    if (std::optional<std::string> path = layers.patternOf(paths))
      return {{"", *path, group.label, group.modules}};
  if (group.modules.size() == 1)
    return {{"", quotedWord(paths.front()), group.label, group.modules}};
  std::map<std::string, LayerGroup> parts;
  for (size_t index : group.modules) {
    // By the last number first: layers usually differ in a list further inside, as one expert of each layer, and the
    // outer star survives.
    std::string part = isPlain(paths.front()) ? lastNumber(modules[index].path, group.depth) : modules[index].path;
    LayerGroup &own = parts.try_emplace(part, LayerGroup{group.key, group.label, {}, group.depth + 1}).first->second;
    own.modules.push_back(index);
  }
  std::vector<ModulePattern> patterns;
  for (const auto &[part, own] : parts)
    llvm::append_range(patterns, patternsOfGroup(own, modules, layers));
  return patterns;
}

/// Moves the path up to its last list of layers into the block, if something follows it. Without a list, the last
/// number is used: a model may have a single layer.
static void splitBlock(ModulePattern &pattern) {
  auto isList = [](StringRef component) { return component == "*" || component.starts_with("{"); };
  StringRef path = pattern.path;
  size_t begin = 0, list = 0, number = 0;
  int depth = 0; // of braces: a list of numbers contains dots
  for (size_t at = 0; at < path.size(); ++at) {
    depth += (path[at] == '{') - (path[at] == '}');
    if (path[at] != '.' || depth > 0)
      continue;
    if (isList(path.slice(begin, at)))
      list = at;
    else if (llvm::all_of(path.slice(begin, at), llvm::isDigit))
      number = at;
    begin = at + 1;
  }
  size_t split = list ? list : number;
  if (split == 0)
    return;
  pattern.block = path.take_front(split).str();
  pattern.path = path.drop_front(split + 1).str();
}

/// Joins patterns of the same block, parent and label into alternatives.
static std::vector<ModulePattern> joinSiblings(std::vector<ModulePattern> patterns) {
  std::vector<ModulePattern> joined;
  std::map<std::string, size_t> known;
  std::vector<std::vector<std::string>> names;
  for (ModulePattern &pattern : patterns) {
    auto [parent, name] = StringRef(pattern.path).rsplit('.');
    if (name.empty())
      std::swap(parent, name);
    std::string key = pattern.block + '\n' + parent.str() + '\n' + pattern.label;
    bool isAlone = StringRef(pattern.path).find_first_of("\"{*") != StringRef::npos;
    // Alternatives do not nest: a quoted path, or one with a list already, stays an entry of its own.
    auto entry = isAlone ? known.end() : known.try_emplace(key, joined.size()).first;
    if (isAlone || entry->second == joined.size()) {
      names.push_back({name.str()});
      joined.push_back(std::move(pattern));
      continue;
    }
    ModulePattern &own = joined[entry->second];
    names[entry->second].push_back(name.str());
    own.path = (parent.empty() ? "" : parent.str() + ".") + alternatives(names[entry->second]);
    own.modules.insert(own.modules.end(), pattern.modules.begin(), pattern.modules.end());
  }
  return joined;
}

/// Moves all patterns of a block to the position of its first one.
static std::vector<ModulePattern> groupBlocks(std::vector<ModulePattern> patterns) {
  std::map<std::string, size_t> firsts;
  std::vector<std::pair<size_t, ModulePattern>> byPosition;
  for (auto [index, pattern] : llvm::enumerate(patterns)) {
    size_t position = pattern.block.empty() ? index : firsts.try_emplace(pattern.block, index).first->second;
    byPosition.emplace_back(position, std::move(pattern));
  }
  llvm::stable_sort(byPosition, llvm::less_first());
  std::vector<ModulePattern> grouped;
  for (auto &[position, pattern] : byPosition)
    grouped.push_back(std::move(pattern));
  return grouped;
}

std::vector<ModulePattern> meshplan::patternsOf(const std::vector<LabelledModule> &modules,
                                                const std::vector<std::string> &all) {
  std::vector<LayerGroup> groups;
  for (size_t index = 0; index < modules.size(); ++index) {
    std::string key = withoutIndices(modules[index].path);
    auto isOwn = [&](const LayerGroup &group) { return group.key == key && group.label == modules[index].label; };
    auto group = llvm::find_if(groups, isOwn);
    if (group == groups.end())
      group = groups.insert(groups.end(), {key, modules[index].label, {}});
    group->modules.push_back(index);
  }
  LayerNumbers layers(all);
  std::vector<ModulePattern> patterns;
  for (const LayerGroup &group : groups)
    llvm::append_range(patterns, patternsOfGroup(group, modules, layers));
  for (ModulePattern &pattern : patterns)
    if (pattern.path.front() != '"')
      splitBlock(pattern);
  return groupBlocks(joinSiblings(std::move(patterns)));
}

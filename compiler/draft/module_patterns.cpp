//===- module_patterns.cpp - modules as patterns of a plan ----------------===//

#include "compiler/draft/module_patterns.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace meshplan;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Alternatives
//===----------------------------------------------------------------------===//

/// The longest end that all names share, from an underscore on; no name is nothing else.
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

/// The longest start that all names share, up to an underscore.
static StringRef commonPrefix(const std::vector<std::string> &names) {
  StringRef first = names.front();
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

/// Modules that differ only in the number of their layer and have one label.
struct LayerGroup {
  std::string key; ///< "layers.*.up"
  std::string label;
  std::vector<size_t> modules;
};

} // namespace

/// True if the path can stand in a plan without quotes.
static bool isPlain(StringRef path) {
  return path != "rest" && llvm::all_of(path, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
}

/// "3", or "{0..5, 7}" for the numbers of a component.
static std::string numberList(const std::vector<int64_t> &numbers) {
  std::vector<std::string> ranges;
  for (size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    for (end = begin + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;)
      ++end;
    std::string first = std::to_string(numbers[begin]);
    if (end - begin > 2)
      ranges.push_back(first + ".." + std::to_string(numbers[end - 1]));
    else
      for (size_t index = begin; index < end; ++index)
        ranges.push_back(std::to_string(numbers[index]));
  }
  bool isOne = numbers.size() == 1;
  return isOne ? ranges.front() : "{" + llvm::join(ranges, ", ") + "}";
}

/// The paths of a group that is only a part of the modules of its key.
static std::vector<ModulePattern> partialPatterns(const LayerGroup &group, const std::vector<LabelledModule> &modules) {
  std::vector<ModulePattern> patterns;
  auto [before, after] = StringRef(group.key).split('*');
  if (after.contains('*')) {
    for (size_t index : group.modules)
      patterns.push_back({"", modules[index].path, group.label, {index}});
    return patterns;
  }
  std::vector<int64_t> numbers;
  for (size_t index : group.modules) {
    int64_t number = 0;
    StringRef(modules[index].path).drop_front(before.size()).drop_back(after.size()).getAsInteger(10, number);
    numbers.push_back(number);
  }
  patterns.push_back({"", before.str() + numberList(numbers) + after.str(), group.label, group.modules});
  return patterns;
}

/// Moves the part of a path up to its last layer number into the block, if something follows it.
static void splitBlock(ModulePattern &pattern) {
  size_t star = pattern.path.rfind("*.");
  if (star == std::string::npos)
    return;
  pattern.block = pattern.path.substr(0, star + 1);
  pattern.path = pattern.path.substr(star + 2);
}

/// Joins patterns of one block, parent and label.
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
    auto [entry, inserted] = known.try_emplace(isAlone ? pattern.path + '\n' : key, joined.size());
    if (inserted) {
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

std::vector<ModulePattern> meshplan::patternsOf(const std::vector<LabelledModule> &modules,
                                                const std::vector<std::string> &all) {
  std::map<std::string, size_t> total;
  for (const std::string &path : all)
    ++total[withoutIndices(path)];
  std::vector<LayerGroup> groups;
  for (size_t index = 0; index < modules.size(); ++index) {
    std::string key = withoutIndices(modules[index].path);
    auto isOwn = [&](const LayerGroup &group) { return group.key == key && group.label == modules[index].label; };
    auto group = llvm::find_if(groups, isOwn);
    if (group == groups.end())
      group = groups.insert(groups.end(), {key, modules[index].label, {}});
    group->modules.push_back(index);
  }
  std::vector<ModulePattern> patterns;
  for (const LayerGroup &group : groups) {
    const std::string &first = modules[group.modules.front()].path;
    if (!isPlain(first))
      for (size_t index : group.modules)
        patterns.push_back({"", "\"" + modules[index].path + "\"", group.label, {index}});
    else if (group.modules.size() == 1 && total[group.key] == 1)
      patterns.push_back({"", first, group.label, group.modules});
    else if (group.modules.size() == total[group.key])
      patterns.push_back({"", group.key, group.label, group.modules});
    else
      llvm::append_range(patterns, partialPatterns(group, modules));
  }
  for (ModulePattern &pattern : patterns)
    if (pattern.path.front() != '"')
      splitBlock(pattern);
  return joinSiblings(std::move(patterns));
}

//===- listed_modules.cpp - paths to modules of a divided list --------------===//
//
// Where `expert` or `within` divides the modules of a list, their parameters are one for all modules. A path that names
// those of every module names the one; a path that names some of them cannot be meant.
//
// Example: `experts: expert dp` makes the parameter experts.w1.weight of experts.0.w1.weight, experts.1.w1.weight, ...
// `freeze experts.*.w1` freezes it, and `freeze experts.0` is an error.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/context.h"
#include "compiler/support/layer_names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <map>
#include <optional>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

/// The paths of the parameters of the modules, in the order of ListedParameters::of.
static std::vector<std::string> listedNames(const ModelOutline &model, std::vector<size_t> &of) {
  std::vector<std::string> names;
  for (size_t index = 0; index < model.parameters.size(); ++index) {
    const OutlineParameter &parameter = model.parameters[index];
    for (int64_t module = 0; parameter.isStacked && module < parameter.shape[0]; ++module) {
      const OutlineParameterName &name = parameter.names.front();
      names.push_back(model.modules[name.module].path + "." + std::to_string(module) + "." + name.leaf);
      of.push_back(index);
    }
  }
  return names;
}

static std::vector<std::string> holdersOf(llvm::ArrayRef<std::string> names) {
  std::vector<std::string> holders;
  for (llvm::StringRef name : names)
    holders.push_back(name.rsplit('.').first.str());
  return holders;
}

ListedParameters::ListedParameters(const ModelOutline &model)
    : names(listedNames(model, of)), byName(names), byHolder(holdersOf(names)) {
  for (const OutlineParameter &parameter : model.parameters)
    if (parameter.isStacked)
      lists[model.modules[parameter.names.front().module].path] = parameter.names.front().module;
}

static const std::string &listOf(const Context &context, size_t parameter) {
  return context.model.modules[context.model.parameters[parameter].names.front().module].path;
}

/// The pattern with a star for the number of a module in the list, or for all numbers if `**` hides which it is.
static std::string ofAllModules(const PatternSequence &pattern, llvm::StringRef list, llvm::StringRef name) {
  std::vector<PatternSequence> components = patternComponents(pattern);
  size_t depth = list.count('.') + 1;
  bool isPlain = llvm::none_of(pattern, [](const PatternNode &node) {
    return node.kind == PatternNode::Kind::DoubleStar || node.kind == PatternNode::Kind::Alternatives;
  });
  if (!isPlain || depth >= components.size())
    return withoutIndices(name);
  components[depth] = {{PatternNode::Kind::Star, 0, {}, "*"}};
  return patternText(joinComponents(components));
}

static void reportSome(const Context &context, const PatternSequence &pattern, SourceRange range, size_t first,
                       size_t count) {
  size_t parameter = context.listed.of[first];
  const std::string &list = listOf(context, parameter), &name = context.listed.names[first];
  int64_t all = context.model.parameters[parameter].shape[0];
  Diagnostic &error = context.diagnostics.error(
      range, "'" + patternText(pattern) + "' names " + std::to_string(count) + " of the " + std::to_string(all) +
                 " modules of '" + list + "', whose parameters are one: '" + name + "' is a part of '" +
                 parameterPath(context.model, context.model.parameters[parameter]) + "'");
  for (const auto &[path, style] : stackingEntries(context.syntax, list))
    error.note(path, "'" + style + "' divides the list here");
  error.help("name those of all modules, as '" + ofAllModules(pattern, list, name) +
             "', or divide the list by other "
             "styles than 'expert' and 'within'");
}

/// The stacked parameters of which all parts are among these names. Reports one of which some are, unless `isKnown`.
static std::vector<size_t> wholeOf(const Context &context, const PatternSequence &pattern, SourceRange range,
                                   llvm::ArrayRef<size_t> names, llvm::function_ref<bool(size_t)> isKnown) {
  std::map<size_t, std::pair<size_t, size_t>> found; // by parameter: the first name, and how many
  for (size_t name : names)
    ++found.try_emplace(context.listed.of[name], name, 0).first->second.second;
  std::vector<size_t> whole;
  bool isReported = false;
  for (const auto &[parameter, match] : found) {
    bool isWhole = static_cast<int64_t>(match.second) == context.model.parameters[parameter].shape[0];
    if (isWhole)
      whole.push_back(parameter);
    else if (!isKnown(parameter) && !std::exchange(isReported, true))
      reportSome(context, pattern, range, match.first, match.second);
  }
  return whole;
}

std::vector<size_t> bind::listedBelow(const Context &context, const PatternSequence &pattern, SourceRange range,
                                      llvm::function_ref<bool(size_t)> isKnown) {
  return wholeOf(context, pattern, range, context.listed.byName.match(subtreePattern(pattern)), isKnown);
}

std::vector<size_t> bind::listedNamed(const Context &context, const PatternSequence &pattern, SourceRange range) {
  return wholeOf(context, pattern, range, context.listed.byName.match(pattern), [](size_t) { return false; });
}

std::vector<size_t> bind::listedAt(const Context &context, const PatternSequence &pattern, SourceRange range) {
  std::vector<size_t> names = context.listed.byName.match(pattern);
  llvm::append_range(names, context.listed.byHolder.match(pattern));
  llvm::sort(names);
  return wholeOf(context, pattern, range, names, [](size_t) { return true; });
}

bool bind::namesListed(const Context &context, const PatternSequence &pattern) {
  return !context.listed.byName.match(subtreePattern(pattern)).empty();
}

/// The list around a module: its path in it is `inside`, `w1` of `experts.0.w1`.
static std::optional<size_t> listAround(const Context &context, llvm::StringRef path, llvm::StringRef &inside) {
  for (llvm::StringRef around = path; around.contains('.');) {
    around = around.rsplit('.').first;
    if (auto list = context.listed.lists.find(around); list != context.listed.lists.end()) {
      inside = path.drop_front(around.size() + 1).split('.').second;
      return list->second;
    }
  }
  return std::nullopt;
}

bool bind::isListed(const Context &context, size_t module) {
  llvm::StringRef inside;
  return listAround(context, context.model.modules[module].path, inside).has_value();
}

void bind::replaceByLists(const Context &context, std::vector<size_t> &modules) {
  if (context.listed.lists.empty())
    return;
  llvm::StringMap<size_t> paths;
  for (auto [index, module] : llvm::enumerate(context.model.modules))
    paths[module.path] = index;
  for (size_t &module : modules) {
    llvm::StringRef inside;
    std::optional<size_t> list = listAround(context, context.model.modules[module].path, inside);
    if (!list)
      continue;
    auto first = paths.find((llvm::Twine(context.model.modules[*list].path) + ".0." + inside).str());
    module = inside.empty() ? *list : first == paths.end() ? module : first->second;
  }
  llvm::sort(modules);
  modules.erase(llvm::unique(modules), modules.end());
}

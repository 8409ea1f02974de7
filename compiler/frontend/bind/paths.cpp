//===- paths.cpp - which modules and parameters a path means ---------------===//
//
// A path that matches nothing is repaired for the help: the longest prefix that matches something is kept, and the
// first component after it is replaced by near names, as long as the whole path then matches.
//
// Example: `model.layers.*.mpl.up_proj`. `model.layers.*` matches, and below it `mlp` is near `mpl`: "did you mean
// 'model.layers.*.mlp.up_proj'?".
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/context.h"
#include "compiler/frontend/statement_forms.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// Patterns in which the first component that matches nothing is replaced by a near name; and, if no name is near, the
/// names that exist there.
struct Repair {
  std::vector<std::string> patterns;
  std::string prefix;             ///< the prefix that matches
  std::vector<std::string> names; ///< names below it
};

Repair repair(const PathTree &tree, const PatternSequence &pattern) {
  std::vector<PatternSequence> components = patternComponents(pattern);
  size_t good = 0;
  PatternSequence prefix;
  std::vector<std::string> names = tree.namesBelow({});
  for (; good < components.size(); ++good) {
    PatternSequence longer = joinComponents(llvm::ArrayRef(components).take_front(good + 1));
    std::vector<std::string> below = tree.namesBelow(longer);
    bool ends = good + 1 == components.size() || below.empty();
    if (ends && tree.match(longer).empty())
      break;
    prefix = std::move(longer);
    names = std::move(below);
  }
  Repair result{{}, patternText(prefix), names};
  if (good == components.size())
    return result;
  for (const std::string &near : nearestNames(patternText(components[good]), names)) {
    components[good] = literalPattern(near);
    PatternSequence candidate = joinComponents(components);
    if (!tree.match(subtreePattern(candidate)).empty())
      result.patterns.push_back(patternText(candidate));
  }
  return result;
}

std::string repairHelp(const PathTree &tree, const PatternSequence &pattern) {
  constexpr size_t mostListed = 12;
  if (!tree.match(subtreePattern(pattern)).empty())
    return "write '" + patternText(pattern) + ".*' for the modules of the list";
  Repair found = repair(tree, pattern);
  if (!found.patterns.empty())
    return "did you mean " + quotedList(found.patterns) + "?";
  if (found.names.empty() || found.names.size() > mostListed)
    return "";
  std::string where = found.prefix.empty() ? "at the top of the model: " : "below '" + found.prefix + "': ";
  return where + quotedList(found.names, ",");
}

} // namespace

/// The help for a pattern that names a tensor of weight files, or a module of such names.
static std::string fileNameHelp(const Context &context, const PatternSequence &pattern) {
  PathMatcher matcher(subtreePattern(pattern));
  for (const auto &[name, parameter] : context.fileNames)
    if (matcher.matches(name))
      return "'" + name + "' is a name of weight files: the plan names '" + parameter + "'";
  return "";
}

/// The help for a pattern that matches no module.
static std::string moduleHelp(const Context &context, const PatternSequence &pattern) {
  std::string help = fileNameHelp(context, pattern);
  return help.empty() ? repairHelp(context.modules, pattern) : help;
}

std::optional<PatternSequence> bind::matchEntry(const Context &context, llvm::ArrayRef<PathPattern> nested,
                                                EntryMatch &match) {
  std::optional<PatternSequence> pattern = parsePattern(nested, context.diagnostics);
  if (!pattern)
    return std::nullopt;
  match.modules = context.modules.match(*pattern);
  // Each alternative must match something: of `{q_proj, k_porj}` the first would match, and the error in the second
  // would leave k_proj to another entry.
  for (const PatternSequence &single : singleAlternatives(*pattern)) {
    // A name of a module never also means a parameter.
    if (!context.modules.match(single).empty())
      continue;
    std::vector<size_t> names = context.parameters.match(single);
    for (size_t name : names)
      match.parameters.push_back(context.named[name]);
    if (!names.empty() || namesListed(context, single))
      continue;
    std::string help = moduleHelp(context, single);
    context.diagnostics.error(match.range, "'" + patternText(single) + "' matches no module")
        .help(help.empty() ? repairHelp(context.parameters, single) : help);
  }
  llvm::sort(match.parameters);
  match.parameters.erase(llvm::unique(match.parameters), match.parameters.end());
  return pattern;
}

bool bind::checkBlock(const Context &context, llvm::ArrayRef<PathPattern> nested, SourceRange range) {
  std::optional<PatternSequence> pattern = parsePattern(nested, context.diagnostics);
  if (!pattern)
    return false;
  size_t before = context.diagnostics.errorCount();
  for (const PatternSequence &single : singleAlternatives(*pattern))
    if (context.modules.match(subtreePattern(single)).empty()) {
      // The keyword of a statement with a missing operand is parsed as a block of paths.
      std::string form = keywordForm(patternText(single));
      context.diagnostics.error(range, "'" + patternText(single) + "' matches no module")
          .help(form.empty() ? moduleHelp(context, single) : form);
    }
  return context.diagnostics.errorCount() == before;
}

std::string bind::parameterHelp(const Context &context, const PatternSequence &pattern) {
  std::string help = repairHelp(context.parameters, pattern);
  if (!help.empty())
    return help;
  std::vector<std::string> leaves;
  for (const OutlineParameter &parameter : context.model.parameters)
    for (const OutlineParameterName &name : parameter.names)
      if (!llvm::is_contained(leaves, name.leaf))
        leaves.push_back(name.leaf);
  return suggest(patternText(patternComponents(pattern).back()), leaves, "parameters are called");
}

/// True if a parameter has a name that matches, or is held by a module at or below one that matches.
static bool namesParameter(const Context &context, const PatternSequence &pattern) {
  return !context.parameters.match(pattern).empty() || namesListed(context, pattern) ||
         llvm::any_of(context.modules.match(subtreePattern(pattern)),
                      [&](size_t module) { return !context.held[module].empty(); });
}

static BoundPaths pathsOf(const Context &context, const PathPattern &path, const PatternSequence &pattern) {
  BoundPaths result{path.text, context.modules.match(pattern), {}, path.range};
  for (size_t name : context.parameters.match(pattern))
    result.parameters.push_back(context.named[name].parameter);
  for (size_t module : context.modules.match(subtreePattern(pattern)))
    llvm::append_range(result.parameters, context.held[module]);
  llvm::sort(result.parameters);
  auto isKnown = [known = result.parameters](size_t parameter) {
    return std::binary_search(known.begin(), known.end(), parameter);
  };
  llvm::append_range(result.parameters, listedBelow(context, pattern, path.range, isKnown));
  replaceByLists(context, result.modules);
  llvm::sort(result.parameters);
  result.parameters.erase(llvm::unique(result.parameters), result.parameters.end());
  return result;
}

BoundPaths bind::bindPath(const Context &context, const PathPattern &path) {
  std::optional<PatternSequence> pattern = parsePattern(path, context.diagnostics);
  if (!pattern)
    return {path.text, {}, {}, path.range};
  for (const PatternSequence &single : singleAlternatives(*pattern)) {
    if (namesParameter(context, single))
      continue;
    std::string help = fileNameHelp(context, single);
    if (context.modules.match(subtreePattern(single)).empty())
      context.diagnostics.error(path.range, "'" + patternText(single) + "' matches no module and no parameter")
          .help(help.empty() ? parameterHelp(context, single) : help);
    else
      context.diagnostics.error(path.range, "'" + patternText(single) + "' holds no parameter")
          .help("name parameters, or modules that hold some");
  }
  return pathsOf(context, path, *pattern);
}

std::vector<BoundPaths> bind::bindPaths(const Context &context, llvm::ArrayRef<PathPattern> paths) {
  std::vector<BoundPaths> result;
  for (const PathPattern &path : paths)
    result.push_back(bindPath(context, path));
  return result;
}

BoundPaths bind::bindModulePath(const Context &context, const PathPattern &path, llvm::StringRef statement) {
  std::optional<PatternSequence> pattern = parsePattern(path, context.diagnostics);
  if (!pattern)
    return {path.text, {}, {}, path.range};
  for (const PatternSequence &single : singleAlternatives(*pattern)) {
    std::string text = "'" + patternText(single) + "'";
    if (!context.modules.match(single).empty())
      continue;
    if (!context.parameters.match(single).empty())
      context.diagnostics
          .error(path.range, (llvm::Twine(text) + " names a parameter, and '" + statement + "' names modules").str())
          .help("name the module that holds it");
    else
      context.diagnostics.error(path.range, text + " matches no module").help(moduleHelp(context, single));
  }
  return pathsOf(context, path, *pattern);
}

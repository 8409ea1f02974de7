//===- path_rules.cpp - patterns of modules in foreign plans --------------===//
//
// A parallel plan in a configuration names modules relative to the base model: "layers.*.self_attn.q_proj". In the
// archive, they are below the prefix that the wrapped model has: "model.layers.0.self_attn.q_proj". The prefix is found
// by trying every rule as the end of every path and taking the prefix below which the most rules match. A vision model
// with two encoders may have two prefixes of equally many matches: all of them are returned.

#include "compiler/adopt/path_rules.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace meshplan;
using llvm::StringRef;

static std::vector<std::string> componentsOf(StringRef path) {
  std::vector<std::string> components;
  if (!path.empty())
    for (StringRef component : llvm::split(path, '.'))
      components.push_back(component.str());
  return components;
}

PathRules::PathRules(const ModelOutline &model) {
  std::set<std::string> seen;
  auto add = [&](const std::string &path, size_t module, std::optional<size_t> parameter) {
    paths.push_back({componentsOf(path), module, parameter});
    if (std::string name = withoutIndices(path); seen.insert(name).second)
      allNames.push_back(std::move(name));
  };
  for (size_t module = 0; module < model.modules.size(); ++module)
    if (!model.modules[module].path.empty())
      add(model.modules[module].path, module, std::nullopt);
  for (size_t index = 0; index < model.parameters.size(); ++index)
    for (const OutlineParameterName &name : model.parameters[index].names) {
      const std::string &module = model.modules[name.module].path;
      add(module.empty() ? name.leaf : module + "." + name.leaf, name.module, index);
    }
}

/// True if the components of the path from `begin` on match the rule.
static bool endsAs(const std::vector<std::string> &path, size_t begin, const std::vector<std::string> &rule) {
  if (path.size() - begin != rule.size())
    return false;
  for (size_t index = 0; index < rule.size(); ++index) {
    const std::string &component = path[begin + index];
    bool isSame = rule[index] == "*" ? llvm::all_of(component, llvm::isDigit) : rule[index] == component;
    if (!isSame)
      return false;
  }
  return true;
}

std::vector<std::string> PathRules::startsOf(llvm::ArrayRef<std::string> rules) const {
  std::map<std::string, std::set<size_t>> byStart;
  for (size_t index = 0; index < rules.size(); ++index) {
    std::vector<std::string> rule = componentsOf(rules[index]);
    for (const Path &path : paths)
      if (path.components.size() >= rule.size())
        if (size_t begin = path.components.size() - rule.size(); endsAs(path.components, begin, rule))
          // Rules are counted, not paths: a deep stack with one matching name must not win over a prefix that fits all
          // rules.
          byStart[llvm::join(llvm::ArrayRef(path.components).take_front(begin), ".")].insert(index);
  }
  size_t most = 0;
  for (const auto &[start, matched] : byStart)
    most = std::max(most, matched.size());
  std::vector<std::string> starts;
  for (const auto &[start, matched] : byStart)
    if (matched.size() == most)
      starts.push_back(start);
  return starts;
}

RuleMatch PathRules::match(StringRef start, StringRef rule) const {
  std::vector<std::string> whole = componentsOf(start);
  llvm::append_range(whole, componentsOf(rule));
  RuleMatch found;
  for (const Path &path : paths)
    if (endsAs(path.components, 0, whole)) {
      if (path.parameter)
        found.parameters.push_back({path.module, *path.parameter});
      else
        found.modules.push_back(path.module);
    }
  return found;
}

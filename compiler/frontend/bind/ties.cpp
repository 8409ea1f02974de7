//===- ties.cpp - consistent placement of tied parameters ------------------===//

#include "compiler/frontend/bind/context.h"
#include "compiler/support/layer_names.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// The placement of a tied parameter by one statement. A style only tells the axes; the dims that it splits are known
/// later, from the operator that reads the parameter.
struct Placement {
  std::string module;
  std::string text;
  SourceRange range;
  std::optional<std::map<int64_t, AxisList>> splits;
  AxisList axes; ///< in the order of the mesh
  std::vector<int64_t> parts;
};

Placement placementOf(const Context &context, const BoundModule &module) {
  Placement result;
  result.module = context.model.modules[module.module].path;
  result.range = module.range;
  for (const BoundStyle &style : module.styles) {
    result.text += (result.text.empty() ? "" : ", ") + style.text;
    if (style.kind != StyleKind::Sequence && style.kind != StyleKind::Replicate)
      llvm::append_range(result.axes, style.axes);
  }
  llvm::sort(result.axes);
  return result;
}

Placement placementOf(const Context &context, const BoundParameter &parameter) {
  Placement result;
  result.text = parameter.layout.text;
  result.range = parameter.layout.range;
  result.module = context.syntax.entries[parameter.entry].path->text;
  result.splits.emplace();
  for (const DimSplit &split : parameter.layout.splits) {
    llvm::append_range((*result.splits)[split.dim], split.axes);
    llvm::append_range(result.axes, split.axes);
  }
  llvm::sort(result.axes);
  for (const StylePart &part : parameter.layout.parts)
    result.parts.push_back(part.count);
  return result;
}

// A style on either side leaves the dims open, so then only axes can be compared.
bool agree(const Mesh &mesh, const Placement &a, const Placement &b) {
  if (!a.splits || !b.splits)
    return unionOf(mesh.digitsOf(a.axes)) == unionOf(mesh.digitsOf(b.axes));
  auto digits = [&](const Placement &placement) {
    std::map<int64_t, std::vector<AxisRef>> result;
    for (const auto &[dim, axes] : *placement.splits)
      result[dim] = mesh.digitsOf(axes);
    return result;
  };
  return digits(a) == digits(b) && a.parts == b.parts;
}

/// `splits dim 0 over tp`, `keeps it whole`
std::string describe(const Context &context, const Placement &placement) {
  if (!placement.splits)
    return placement.axes.empty() ? "keeps it whole" : "splits it over " + axesText(context, placement.axes);
  std::string result;
  for (const auto &[dim, axes] : *placement.splits)
    result += (result.empty() ? "splits dim " : ", dim ") + std::to_string(dim) + " over " + axesText(context, axes);
  return result.empty() ? "keeps it whole" : result;
}

Placement placementOf(const Context &context, const BoundPlan &plan, const BoundParameterStyle &parameter) {
  Placement result = placementOf(
      context,
      BoundModule{
          parameter.name.module, parameter.styles, {}, parameter.entry, context.syntax.entries[parameter.entry].range});
  result.module = plan.entries[parameter.entry].path;
  return result;
}

/// The entry that gives a style to the module, or null.
const BoundModule *styledModule(const BoundPlan &plan, size_t module) {
  auto bound = llvm::lower_bound(plan.modules, module,
                                 [](const BoundModule &entry, size_t value) { return entry.module < value; });
  return bound != plan.modules.end() && bound->module == module && !bound->styles.empty() ? &*bound : nullptr;
}

/// The style of a parameter under one of its names, or null.
const BoundParameterStyle *ownStyle(const BoundPlan &plan, const NamedParameter &name) {
  auto found = llvm::find_if(plan.parameterStyles, [&](const BoundParameterStyle &each) { return each.name == name; });
  return found == plan.parameterStyles.end() || found->styles.empty() ? nullptr : &*found;
}

/// The modules whose styles place a parameter: its owners and its readers. A reader that contains the owner, as
/// nn.MultiheadAttention contains its projection, leaves the parameter to the owner's style. An owner leaves it to a
/// style of the parameter itself.
std::set<size_t> placingModules(const Context &context, const BoundPlan &plan, size_t index) {
  const OutlineParameter &parameter = context.model.parameters[index];
  std::set<size_t> modules;
  for (const OutlineParameterName &name : parameter.names)
    if (!ownStyle(plan, {name.module, index}))
      modules.insert(name.module);
  for (size_t reader : parameter.readers)
    if (llvm::none_of(parameter.names, [&](const OutlineParameterName &name) {
          bool own = ownStyle(plan, {name.module, index});
          bool isBelow = isInside(context.model.modules[name.module].path, context.model.modules[reader].path);
          return own ? isBelow || name.module == reader : isBelow && styledModule(plan, name.module);
        }))
      modules.insert(reader);
  return modules;
}

std::vector<Placement> placementsOf(const Context &context, const BoundPlan &plan, size_t index) {
  std::vector<Placement> result;
  auto direct = std::equal_range(plan.parameters.begin(), plan.parameters.end(), BoundParameter{index, {}, 0},
                                 [](const auto &a, const auto &b) { return a.parameter < b.parameter; });
  for (auto parameter = direct.first; parameter != direct.second; ++parameter)
    result.push_back(placementOf(context, *parameter));
  if (!result.empty())
    return result;
  for (const OutlineParameterName &name : context.model.parameters[index].names)
    if (const BoundParameterStyle *own = ownStyle(plan, {name.module, index}))
      result.push_back(placementOf(context, plan, *own));
  for (size_t module : placingModules(context, plan, index))
    if (const BoundModule *styled = styledModule(plan, module))
      result.push_back(placementOf(context, *styled));
  return result;
}

} // namespace

/// Without a tie, one module owns the parameter and another one reads it, as a parametrization does: if one of them
/// splits it, the other must, too.
static std::string placementHelp(bool isTied, const Placement &first, const Placement &second) {
  if (isTied)
    return "a tied parameter has one placement; give one that both modules can take";
  const Placement &divided = first.axes.empty() ? second : first, &whole = first.axes.empty() ? first : second;
  std::string help = "the owner of a parameter and its readers must give it the same placement";
  return whole.axes.empty() && !divided.splits ? help + "; write '" + whole.module + ": " + divided.text + "', too"
                                               : help;
}

void bind::checkTies(const Context &context, const BoundPlan &plan) {
  for (size_t i = 0; i < context.model.parameters.size(); ++i) {
    bool isTied = context.model.parameters[i].names.size() > 1;
    std::vector<Placement> placements = placementsOf(context, plan, i);
    llvm::stable_sort(placements, [](const Placement &a, const Placement &b) {
      return std::pair(a.range.line, a.range.column) < std::pair(b.range.line, b.range.column);
    });
    for (size_t other = 1; other < placements.size(); ++other) {
      if (agree(context.environment.mesh, placements[0], placements[other]))
        continue;
      const Placement &first = placements[0];
      const Placement &second = placements[other];
      context.diagnostics
          .error(second.range, (isTied ? "tied parameter '" : "parameter '") +
                                   parameterPath(context.model, context.model.parameters[i]) +
                                   "' has two placements: '" + second.text + "' of " + moduleText(second.module) + " " +
                                   describe(context, second))
          .note(first.range, "'" + first.text + "' of " + moduleText(first.module) + " " + describe(context, first))
          .help(placementHelp(isTied, first, second));
    }
  }
}

//===- experts.cpp - data blocks that name weights of experts -------------===//
//
// A block without `on` has the parameters that are left, and data parallelism of weights of experts is over what the
// experts leave of its axes (PlaceData). One that names such weights states the axes itself, and these must then be
// right: ranks with different experts have no gradient to average.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"
#include "compiler/support/layer_names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using namespace meshplan::bind;

namespace {

const BoundStyle *expertStyle(llvm::ArrayRef<BoundStyle> styles) {
  const auto *found = llvm::find_if(styles, [](const BoundStyle &style) { return style.kind == StyleKind::Expert; });
  return found == styles.end() ? nullptr : found;
}

/// The style that divides the experts of a parameter, or null. Weights of experts have a matrix for each expert; in a
/// module with the style, a matrix alone is that of a router, or a bias.
const BoundStyle *expertStyleOf(const Context &context, const BoundPlan &plan, size_t parameter) {
  const OutlineParameter &outline = context.model.parameters[parameter];
  for (const BoundParameterStyle &own : plan.parameterStyles)
    if (own.name.parameter == parameter)
      return expertStyle(own.styles);
  if (outline.shape.size() < 3)
    return nullptr;
  for (const BoundModule &module : plan.modules)
    if (const BoundStyle *style = expertStyle(module.styles))
      for (const OutlineParameterName &name : outline.names)
        if (name.module == module.module ||
            isInside(context.model.modules[name.module].path, context.model.modules[module.module].path))
          return style;
  return nullptr;
}

/// Names for all of the digits; nothing if the plan has none for some of them.
std::optional<std::vector<size_t>> namesFor(const Mesh &mesh, std::vector<AxisRef> digits) {
  std::vector<size_t> result;
  for (size_t number = 0; number < mesh.axes.size() + mesh.folded.size(); ++number) {
    std::vector<AxisRef> own = mesh.digitsOf(number);
    if (mesh.sizeOf(number) == 1 || !without(own, digits).empty())
      continue;
    result.push_back(number);
    digits = without(digits, own);
  }
  return digits.empty() ? std::optional(result) : std::nullopt;
}

std::string pathsText(llvm::ArrayRef<PathPattern> paths) {
  std::string text;
  for (const PathPattern &path : paths)
    text += (text.empty() ? "" : ", ") + (path.literal ? "\"" + path.text + "\"" : path.text);
  return text;
}

std::string helpFor(const Context &context, const DataStatement &statement, const std::vector<AxisRef> &left) {
  if (left.empty())
    return "nothing of these axes is left for data parallelism of these weights: name other parameters";
  std::optional<std::vector<size_t>> names = namesFor(context.environment.mesh, left);
  std::string axes = "NAME", fold = "name the digits that are left with 'fold', and ";
  if (names) {
    std::vector<std::string> texts;
    for (size_t number : *names)
      texts.push_back(context.environment.mesh.nameOf(number));
    axes = llvm::join(texts, ", ");
    fold.clear();
  }
  return fold + "write 'data " + axes + " on " + pathsText(statement.paths) + " { ... }'";
}

void check(const Context &context, const BoundPlan &plan, const DataStatement &statement, const BoundData &data) {
  const Mesh &mesh = context.environment.mesh;
  std::vector<AxisRef> digits = mesh.digitsOf(data.axes);
  for (size_t parameter : data.parameters) {
    const BoundStyle *style = expertStyleOf(context, plan, parameter);
    if (style == nullptr)
      continue;
    std::vector<AxisRef> divided = mesh.digitsOf(style->axes);
    auto isDivided = [&](size_t axis) {
      return mesh.sizeOf(axis) > 1 && llvm::any_of(mesh.digitsOf(axis), [&](const AxisRef &digit) {
               return llvm::any_of(divided, [&](const AxisRef &other) { return overlap(digit, other); });
             });
    };
    auto axis = llvm::find_if(data.axes, isDivided);
    if (axis == data.axes.end())
      continue;
    context.diagnostics
        .error(data.range, "data parallelism over '" + mesh.nameOf(*axis) + "' of parameter '" +
                               parameterPath(context.model, context.model.parameters[parameter]) +
                               "', of which these ranks hold different experts")
        .note(style->range, "'" + style->text + "' divides its experts")
        .help(helpFor(context, statement, without(digits, divided)));
    return;
  }
}

} // namespace

void bind::checkDataOfExperts(const Context &context, const BoundPlan &plan) {
  for (auto [statement, data] : llvm::zip_equal(context.syntax.data, plan.data))
    if (!statement.paths.empty())
      check(context, plan, statement, data);
}

//===- axes.cpp - axes and layouts by name ---------------------------------===//
//
// An axis that the plan names twice for one value is an error at the second name: one coordinate would choose the shard
// of two dims. So is a digit that two names have. So `used` collects the names over all dims of a layout. An axis that
// is not found is left out of the result, and binding continues, so that one run reports all of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/context.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"

using namespace meshplan;
using namespace meshplan::bind;

/// Reports a name that was used before, or has a digit that one used before has. True if it was reported.
static bool reportUsed(const Context &context, const Word &axis, llvm::ArrayRef<Word> used) {
  const Mesh &mesh = context.environment.mesh;
  auto shared = [&](const Word &other) -> std::optional<AxisRef> {
    for (const AxisRef &digit : mesh.digitsOf(*mesh.find(axis.text)))
      for (const AxisRef &theirs : mesh.digitsOf(*mesh.find(other.text)))
        if (overlap(digit, theirs))
          return digit;
    return std::nullopt;
  };
  for (const Word &earlier : used) {
    std::optional<AxisRef> digit = shared(earlier);
    if (earlier.text != axis.text && !digit)
      continue;
    context.diagnostics
        .error(axis.range, earlier.text == axis.text ? "axis '" + axis.text + "' is used twice"
                                                     : "'" + axis.text + "' and '" + earlier.text +
                                                           "' share a digit of axis '" + mesh.nameOf(digit->axis) + "'")
        .note(earlier.range, earlier.text == axis.text ? "it is used here, too" : "'" + earlier.text + "' is used here")
        .help("an axis splits at most one dim of a value: remove it from one of the two");
    return true;
  }
  return false;
}

AxisList bind::resolveAxes(const Context &context, llvm::ArrayRef<Word> axes, std::vector<Word> &used) {
  AxisList result;
  const Mesh &mesh = context.environment.mesh;
  for (const Word &axis : axes) {
    std::optional<size_t> index = mesh.find(axis.text);
    if (!index) {
      std::vector<std::string> names = mesh.names();
      Diagnostic &error = context.diagnostics.error(axis.range, "unknown axis '" + axis.text + "'");
      if (mesh.range.hasLine())
        error.note(mesh.range, "the mesh is here");
      error.help(names.empty() ? "the plan has no mesh; add 'mesh " + axis.text + " = SIZE'"
                               : suggest(axis.text, names, "axes of the mesh"));
      continue;
    }
    if (reportUsed(context, axis, used))
      continue;
    used.push_back(axis);
    result.push_back(*index);
  }
  return result;
}

AxisList bind::resolveAxes(const Context &context, llvm::ArrayRef<Word> axes) {
  std::vector<Word> used;
  return resolveAxes(context, axes, used);
}

std::string bind::axesText(const Context &context, llvm::ArrayRef<size_t> axes) {
  std::string names;
  for (size_t axis : axes)
    names += (names.empty() ? "" : ", ") + context.environment.mesh.nameOf(axis);
  return axes.size() == 1 ? names : "(" + names + ")";
}

void bind::checkDimName(const Context &context, const Word &name) {
  if (name.text == "_" || llvm::is_contained(context.dimNames, name.text))
    return;
  context.diagnostics.error(name.range, "no input has a dim '" + name.text + "'")
      .help(suggest(name.text, context.dimNames, "dims of the inputs"))
      .help("'_' leaves a dim unnamed");
}

BoundLayout bind::bindLayout(const Context &context, const LayoutSyntax &layout, llvm::StringRef text) {
  BoundLayout result;
  result.range = layout.range;
  result.text = text.str();
  if (const auto *word = std::get_if<Word>(&layout.layout)) {
    if (word->text != "replicate")
      context.diagnostics.error(word->range, "unknown layout '" + word->text + "'")
          .help("layouts: 'replicate', 'split DIM over AXIS', '[NAME over AXIS, _]'");
  } else if (const auto *split = std::get_if<LayoutSyntax::Split>(&layout.layout)) {
    std::optional<int64_t> dim = evaluate(split->dim, context.environment, context.diagnostics);
    if (dim && *dim < 0)
      context.diagnostics.error(split->dim.range, "dims count from 0, and this is " + std::to_string(*dim));
    result.splits.push_back({dim.value_or(0), resolveAxes(context, split->axes)});
  } else {
    const auto &dims = std::get<std::vector<DimSyntax>>(layout.layout);
    std::vector<Word> used;
    result.rank = dims.size();
    for (size_t i = 0; i < dims.size(); ++i) {
      checkDimName(context, dims[i].name);
      result.names.push_back(dims[i].name.text == "_" ? "" : dims[i].name.text);
      if (dims[i].extent)
        context.diagnostics.error(dims[i].extent->range, "a layout states splits, not extents")
            .help("give extents with the inputs of the plan");
      if (!dims[i].axes.empty())
        result.splits.push_back({static_cast<int64_t>(i), resolveAxes(context, dims[i].axes, used)});
    }
  }
  return result;
}

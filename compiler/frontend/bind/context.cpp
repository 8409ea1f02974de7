//===- context.cpp - the model with its paths as trees ---------------------===//

#include "compiler/frontend/bind/context.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace meshplan;
using namespace meshplan::bind;

static std::string pathOf(const ModelOutline &model, const OutlineParameterName &name) {
  const std::string &module = model.modules[name.module].path;
  return module.empty() ? name.leaf : module + "." + name.leaf;
}

std::string meshplan::parameterPath(const ModelOutline &model, const OutlineParameter &parameter) {
  return pathOf(model, parameter.names.front());
}

std::string meshplan::parameterPath(const ModelOutline &model, const NamedParameter &named) {
  const std::vector<OutlineParameterName> &names = model.parameters[named.parameter].names;
  return pathOf(model,
                *llvm::find_if(names, [&](const OutlineParameterName &name) { return name.module == named.module; }));
}

static std::vector<std::string> modulePaths(const ModelOutline &model) {
  std::vector<std::string> result;
  for (const OutlineModule &module : model.modules)
    result.push_back(module.path);
  return result;
}

static std::vector<std::string> parameterPaths(const ModelOutline &model) {
  std::vector<std::string> result;
  for (const OutlineParameter &parameter : model.parameters)
    for (const OutlineParameterName &name : parameter.names)
      result.push_back(pathOf(model, name));
  return result;
}

Context::Context(const Syntax &syntax, const ModelOutline &model, const Environment &environment,
                 Diagnostics &diagnostics)
    : syntax(syntax), model(model), environment(environment), diagnostics(diagnostics), modules(modulePaths(model)),
      parameterNames(parameterPaths(model)), parameters(parameterNames), listed(model), held(model.modules.size()),
      touches(model.modules.size(), false) {
  for (const ValueStatement &statement : syntax.values)
    for (const DimSyntax &dim : statement.dims)
      if (statement.isInput && dim.name.text != "_" && !llvm::is_contained(dimNames, dim.name.text))
        dimNames.push_back(dim.name.text);
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    for (const OutlineParameterName &name : model.parameters[i].names) {
      named.push_back({name.module, i});
      if (!llvm::is_contained(held[name.module], i))
        held[name.module].push_back(i);
      touches[name.module] = true;
    }
    for (size_t module : model.parameters[i].readers)
      touches[module] = true;
  }
}

llvm::StringRef Context::leaf(size_t parameter, size_t module) const {
  for (const OutlineParameterName &name : model.parameters[parameter].names)
    if (name.module == module)
      return name.leaf;
  return "";
}

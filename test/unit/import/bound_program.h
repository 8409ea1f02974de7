//===- bound_program.h - small programs and their plans ---------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_IMPORT_BOUND_PROGRAM_H
#define MESHPLAN_TEST_UNIT_IMPORT_BOUND_PROGRAM_H

#include "compiler/frontend/bind.h"
#include "compiler/transforms/import/outline_model.h"
#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshplan {

/// A fixture with a program that a test writes value by value, and a plan bound to it. The plan's text starts in line 2
/// of `p.plan`.
class BoundProgram : public testing::Test {
protected:
  BoundProgram() {
    context.loadDialect<plan::PlanDialect, mlir::func::FuncDialect>();
    program.scopes = {{-1, "", "Model", 0}};
  }

  archive::ValueId value(std::vector<archive::SymbolicInt> dims,
                         archive::ScalarType type = archive::ScalarType::Float32) {
    archive::Value made;
    made.name = "v" + std::to_string(program.values.size());
    made.type = type;
    made.dims.assign(dims.begin(), dims.end());
    program.values.push_back(std::move(made));
    return static_cast<archive::ValueId>(program.values.size() - 1);
  }
  archive::ValueId parameter(const std::string &name, std::vector<archive::SymbolicInt> dims,
                             const std::string &payload = "") {
    program.parameters.push_back({name, value(std::move(dims)), true, payload.empty() ? name : payload});
    return program.parameters.back().value;
  }
  archive::ValueId input(const std::string &name, std::vector<archive::SymbolicInt> dims,
                         archive::ScalarType type = archive::ScalarType::Float32) {
    program.inputs.push_back({name, value(std::move(dims), type)});
    return program.inputs.back().value;
  }
  void output(const std::string &name, archive::ValueId id) { program.outputs.push_back({name, id}); }

  /// A node in the module at `path`; its results have the shapes of `results`.
  archive::Node &node(const std::string &target, const std::string &path, std::vector<archive::NamedArgument> arguments,
                      std::vector<archive::ValueId> results) {
    archive::Node made;
    made.name = "n" + std::to_string(program.nodes.size());
    made.target = target;
    made.arguments = std::move(arguments);
    made.results = std::move(results);
    made.scope = scope(path);
    program.nodes.push_back(std::move(made));
    return program.nodes.back();
  }

  /// Reads the statements as a plan for the current program; a test failure if they do not fit it.
  void bind(const std::string &statements) {
    outline = outlineModel(program);
    const SourceBuffer &source = sources.add("p.plan", "plan p {\n" + statements + "\n}\n");
    std::optional<Syntax> syntax = parsePlan(source, diagnostics);
    ASSERT_TRUE(syntax) << diagnostics.text();
    std::optional<BoundPlan> plan = bindPlan(*syntax, outline.model, {}, diagnostics);
    ASSERT_TRUE(plan) << diagnostics.text();
    bound = std::move(*plan);
  }

  /// The diagnostics: line, message and helps.
  std::vector<std::string> said() const {
    std::vector<std::string> result;
    for (const Diagnostic &diagnostic : diagnostics.all()) {
      result.push_back(std::to_string(diagnostic.range.line) + ": " + diagnostic.message);
      for (const std::string &help : diagnostic.helps)
        result.push_back("help: " + help);
    }
    return result;
  }
  template <typename T> static std::string print(const T &what) {
    std::string text;
    llvm::raw_string_ostream(text) << what;
    return text;
  }

  archive::ExportedProgram program;
  ProgramOutline outline;
  Sources sources;
  Diagnostics diagnostics{sources};
  BoundPlan bound;
  mlir::MLIRContext context;

private:
  int32_t scope(const std::string &path) {
    for (size_t i = 0; i < program.scopes.size(); ++i)
      if (program.scopes[i].path == path)
        return static_cast<int32_t>(i);
    program.scopes.push_back({0, path, "Module", 0});
    return static_cast<int32_t>(program.scopes.size() - 1);
  }
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_IMPORT_BOUND_PROGRAM_H

//===- context.h - what the parts of binding share ---------------*- C++ -*-===//
//
// Internal to binding. Each function reports what is wrong and goes on, so that
// one run names everything; a result that was reported is only good for going on.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BIND_CONTEXT_H
#define MESHPLAN_COMPILER_FRONTEND_BIND_CONTEXT_H

#include "compiler/frontend/bind.h"
#include "compiler/frontend/path_tree.h"

#include <string>
#include <vector>

namespace meshplan::bind {

/// The model with its paths as trees.
struct Context {
  Context(const Syntax &syntax, const ModelOutline &model, const Environment &environment, Diagnostics &diagnostics);

  const Syntax &syntax;
  const ModelOutline &model;
  const Environment &environment;
  Diagnostics &diagnostics;

  PathTree modules;
  std::vector<std::string> parameterNames; ///< every name of every parameter
  std::vector<NamedParameter> named;       ///< which parameter has the name, and in which module
  PathTree parameters;                     ///< over parameterNames
  std::vector<std::vector<size_t>> held;   ///< by module: parameters that have a name in it, sorted
  std::vector<bool> touches;               ///< by module: it holds or reads a parameter
  std::vector<std::string> dimNames;       ///< names that 'input' statements give to dims

  /// Name of a parameter inside a module; empty if the module does not hold it.
  llvm::StringRef leaf(size_t parameter, size_t module) const;
};

// axes.cpp

/// Axes by name. Reports unknown axes and those that stand twice, also in `used`,
/// to which they are added.
AxisList resolveAxes(const Context &context, llvm::ArrayRef<Word> axes, std::vector<Word> &used);
AxisList resolveAxes(const Context &context, llvm::ArrayRef<Word> axes);

/// `(dp, tp)` or `tp`.
std::string axesText(const Context &context, llvm::ArrayRef<size_t> axes);

/// Reports a name that no input gives to a dim: of an output, or at a border.
void checkDimName(const Context &context, const Word &name);

BoundLayout bindLayout(const Context &context, const LayoutSyntax &layout, llvm::StringRef text);

// styles.cpp

/// The styles and borders of one entry.
struct EntryStyles {
  std::vector<BoundStyle> styles;
  std::vector<BoundBorder> borders;
  std::vector<std::pair<const PlacementSyntax *, BoundLayout>> placements;
  bool hasWrongStyle = false; ///< reported; the modules are placed all the same

  /// True if the entry says, or tries to say, how modules are placed.
  bool placesModules() const;
  /// The first style that divides the module's parameters, or null.
  const BoundStyle *dividing() const;
};
EntryStyles bindClauses(const Context &context, const EntryStatement &entry);

// paths.cpp

/// Fills modules and parameters of an entry: the modules that the pattern matches and, of each of its alternatives that
/// matches none, the parameters. Reports one that matches neither, with the nearest path that does.
void matchEntry(const Context &context, llvm::ArrayRef<PathPattern> nested, EntryMatch &match);

/// The same for a block, which has to have modules inside, and may itself be a
/// list of modules that the outline leaves out. True if it has.
bool checkBlock(const Context &context, llvm::ArrayRef<PathPattern> nested, SourceRange range);

/// Modules and parameters that a statement about training names. Reports a
/// pattern, or one of its alternatives, that names no parameter.
BoundPaths bindPath(const Context &context, const PathPattern &path);
std::vector<BoundPaths> bindPaths(const Context &context, llvm::ArrayRef<PathPattern> paths);

/// The same for a statement about modules. Reports what matches no module.
BoundPaths bindModulePath(const Context &context, const PathPattern &path, llvm::StringRef statement);

// entries.cpp, coverage.cpp, ties.cpp

/// Fills entries, modules, parameters and coverage of the plan.
void bindEntries(const Context &context, BoundPlan &plan);
/// What the entries and `rest` leave over is an error; `claimed` tells by
/// parameter whether an entry places it. Adds the modules that `rest` takes.
void coverRest(const Context &context, llvm::ArrayRef<EntryStyles> styles, const std::vector<bool> &claimed,
               BoundPlan &plan);
/// Tied parameters that two modules place differently are an error.
void checkTies(const Context &context, const BoundPlan &plan);

// values.cpp

/// Fills inputs, outputs, symbols and loss of the plan. Needs what countMicrobatches fills.
void bindValues(const Context &context, BoundPlan &plan);

// loss_unit.cpp

/// Of what a statement takes the mean of losses. Reports a word that is none, and samples that no input has. Needs the
/// inputs of the plan.
LossUnit bindLossUnit(const Context &context, const LossStatement &statement, const BoundPlan &plan);

// training/

/// Fills microbatches.
void countMicrobatches(const Context &context, BoundPlan &plan);
/// Fills precision, recompute, optimizer, clip, trainable
/// statements and the use of each parameter. Needs what bindValues and bindData fill.
void bindTraining(const Context &context, BoundPlan &plan);
/// Fills the data blocks.
void bindData(const Context &context, BoundPlan &plan);

// statements.cpp

/// Reports statements that stand twice and those that are reserved.
void checkStatements(const Syntax &syntax, Diagnostics &diagnostics);

} // namespace meshplan::bind

#endif // MESHPLAN_COMPILER_FRONTEND_BIND_CONTEXT_H

//===- context.h - shared state and functions of binding ---------*- C++ -*-===//
//
// Internal to binding. Each function reports errors and continues, so that one run reports all of them; after an error
// a result only serves to continue.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BIND_CONTEXT_H
#define MESHPLAN_COMPILER_FRONTEND_BIND_CONTEXT_H

#include "compiler/frontend/bind.h"
#include "compiler/frontend/path_tree.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <vector>

namespace meshplan::bind {

/// Parameters of the modules of lists, which are parts of stacked parameters.
struct ListedParameters {
  explicit ListedParameters(const ModelOutline &model);

  std::vector<size_t> of;         ///< the stacked parameter of each
  std::vector<std::string> names; ///< `experts.0.w1.weight`
  llvm::StringMap<size_t> lists;  ///< by path: the modules that are such lists
  PathTree byName, byHolder;      ///< over the names, and over the modules that hold them
};

/// The model with its paths as trees.
struct Context {
  Context(const Syntax &syntax, const ModelOutline &model, const Environment &environment, Diagnostics &diagnostics);

  const Syntax &syntax;
  const ModelOutline &model;
  const Environment &environment;
  Diagnostics &diagnostics;

  PathTree modules;
  std::vector<std::string> parameterNames; ///< every name of every parameter
  std::vector<NamedParameter> named;       ///< the parameter with the name, and the module that holds it
  PathTree parameters;                     ///< over parameterNames
  ListedParameters listed;
  std::vector<std::vector<size_t>> held; ///< by module: parameters with a name in it, sorted
  std::vector<bool> touches;             ///< by module: whether it holds or reads a parameter
  std::vector<std::string> dimNames;     ///< names that 'input' statements give to dims
  /// The tensors of weight files that 'weight_names' names, and the first name of the parameter of each.
  std::vector<std::pair<std::string, std::string>> fileNames;

  /// Name of a parameter inside a module; empty if the module does not hold it.
  llvm::StringRef leaf(size_t parameter, size_t module) const;
};

// axes.cpp

/// Resolves axes by name. Reports unknown axes and repeated ones, also if they are in `used`, to which they are added.
AxisList resolveAxes(const Context &context, llvm::ArrayRef<Word> axes, std::vector<Word> &used);
AxisList resolveAxes(const Context &context, llvm::ArrayRef<Word> axes);

/// `(dp, tp)` or `tp`.
std::string axesText(const Context &context, llvm::ArrayRef<size_t> axes);

/// Reports a name that no input gives to a dim, at an output or a border.
void checkDimName(const Context &context, const Word &name);

BoundLayout bindLayout(const Context &context, const LayoutSyntax &layout, llvm::StringRef text);

// styles.cpp

/// The styles and borders of one entry.
struct EntryStyles {
  std::vector<BoundStyle> styles;
  std::vector<BoundBorder> borders;
  std::vector<std::pair<const PlacementSyntax *, BoundLayout>> placements;
  bool hasWrongStyle = false; ///< reported; the entry still counts as placing its modules

  /// True if the entry states, or tries to state, a style.
  bool placesModules() const;
  /// The first style that splits the module's parameters, or null.
  const BoundStyle *dividing() const;
};
EntryStyles bindClauses(const Context &context, const EntryStatement &entry);

/// Calls `take` for each option. Reports one that is stated twice instead.
void forEachOption(const Context &context, llvm::ArrayRef<StyleOption> options,
                   llvm::function_ref<void(const StyleOption &)> take);

/// The parts that `parts 3` or `parts (q 4, k 1)` states. Reports numbers that are too large or below 1.
std::vector<StylePart> bindParts(const Context &context, const StyleOption &option);

/// The number that `dim 1` states. Reports another one.
int64_t bindDimNumber(const Context &context, const StyleOption &option);

// paths.cpp

/// Fills modules and parameters of an entry, and returns its pattern. An alternative of the pattern that matches
/// modules names these; one that matches no module names the parameters that it matches. Reports an alternative that
/// matches neither, with the nearest path that exists. Those of modules in lists are left to the caller
/// (listed_modules.cpp).
std::optional<PatternSequence> matchEntry(const Context &context, llvm::ArrayRef<PathPattern> nested,
                                          EntryMatch &match);

/// Checks the pattern of a block: modules must lie below its path, which may itself be missing in the outline, as a
/// ModuleList may. True if some do.
bool checkBlock(const Context &context, llvm::ArrayRef<PathPattern> nested, SourceRange range);

/// Modules and parameters that a statement of training names. Reports a pattern, or one of its alternatives, that names
/// no parameter.
BoundPaths bindPath(const Context &context, const PathPattern &path);
std::vector<BoundPaths> bindPaths(const Context &context, llvm::ArrayRef<PathPattern> paths);

/// The same for a statement about modules. Reports a pattern that matches no module.
BoundPaths bindModulePath(const Context &context, const PathPattern &path, llvm::StringRef statement);

/// The help for a pattern that names no parameter: near names, or else the names that parameters have in their modules.
std::string parameterHelp(const Context &context, const PatternSequence &pattern);

// listed_modules.cpp

/// The stacked parameters of which the pattern names the parts of all modules, or modules around them. Reports one of
/// which it names some, unless `isKnown` says that it is named in another way.
std::vector<size_t> listedBelow(const Context &context, const PatternSequence &pattern, SourceRange range,
                                llvm::function_ref<bool(size_t)> isKnown);

/// Those of which it names the parts of all modules. Reports as listedBelow does.
std::vector<size_t> listedNamed(const Context &context, const PatternSequence &pattern, SourceRange range);

/// Those of which it names the parts of all modules, or what holds them.
std::vector<size_t> listedAt(const Context &context, const PatternSequence &pattern, SourceRange range);

/// True if the pattern names a part of a stacked parameter, or a module around one.
bool namesListed(const Context &context, const PatternSequence &pattern);

/// True for a module in a list whose parameters are stacked.
bool isListed(const Context &context, size_t module);

/// Replaces the modules of such a list, `experts.0`, by the list, and modules in them, `experts.1.w1`, by that in the
/// first, whose calls compute the rows of all experts.
void replaceByLists(const Context &context, std::vector<size_t> &modules);

// bind.cpp

/// The entries that give `expert` or `within` to a list: their paths, and the word.
std::vector<std::pair<SourceRange, std::string>> stackingEntries(const Syntax &syntax, llvm::StringRef list);

// weight_names.cpp

/// Fills the names of parameters and buffers in weight files, also in the context.
void bindWeightNames(Context &context, BoundPlan &plan);

// entries.cpp, coverage.cpp, ties.cpp

/// Fills entries, modules, parameters and coverage of the plan.
void bindEntries(const Context &context, BoundPlan &plan);
/// Reports modules that no entry and no `rest` covers; `claimed` tells for each parameter whether an entry places it.
/// Adds the modules that `rest` applies to.
void coverRest(const Context &context, llvm::ArrayRef<EntryStyles> styles, const std::vector<bool> &claimed,
               BoundPlan &plan);
/// Reports tied parameters that two modules place differently.
void checkTies(const Context &context, const BoundPlan &plan);

// values.cpp

/// Fills inputs, outputs, symbols and loss of the plan. Requires countMicrobatches.
void bindValues(const Context &context, BoundPlan &plan);

// loss_unit.cpp

/// The unit over which a statement averages losses. Reports an unknown word, and `sequence` without a sample dim in the
/// inputs. Requires the inputs of the plan.
LossUnit bindLossUnit(const Context &context, const LossStatement &statement, const BoundPlan &plan);

// training/

/// Fills microbatches.
void countMicrobatches(const Context &context, BoundPlan &plan);
/// Fills precision, recompute, optimizer, clip, trainable statements and the use of each parameter. Requires bindValues
/// and bindData.
void bindTraining(const Context &context, BoundPlan &plan);
/// Fills the data blocks.
void bindData(const Context &context, BoundPlan &plan);

// statements.cpp

/// Reports repeated and reserved statements.
void checkStatements(const Syntax &syntax, Diagnostics &diagnostics);

} // namespace meshplan::bind

#endif // MESHPLAN_COMPILER_FRONTEND_BIND_CONTEXT_H

//===- algorithms.h - solvers of scheduling problems ------------*- C++ -*-===//
//
// Free functions from a problem to a solution. Each checks the problem and verifies its solution, so what it returns is
// either correct or an error.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_ALGORITHMS_H
#define MESHPLAN_COMPILER_SCHEDULING_ALGORITHMS_H

#include "compiler/scheduling/solution.h"
#include "llvm/ADT/StringRef.h"

namespace meshplan::scheduling {

/// Keeps the order of the problem and overlaps collectives with compute where that is free.
///
/// - A collective starts right after the operation that completes its inputs. If that operation is itself a collective,
///   or there is none, it starts at its own position.
/// - A collective whose results are larger than its inputs (an all-gather) starts no earlier than the last but one such
///   collective of its communicator, so that at most two of these results wait for their readers.
/// - A gather of parameters starts where its Prefetch says, and what it depends on before it.
/// - A collective is waited for at the first use of its result, or at the end of the program. A blocking one is waited
///   for where it starts. A reduction is waited for earlier if the buffers that only reductions in flight keep alive
///   would exceed twice the largest one.
/// - Buffers are freed after their last use.
/// - What may be merged and has a limit is merged in the order of the problem, up to the limit.
///
/// Linear in the size of the problem, except for the number of collectives in flight. Does not adapt to the memory
/// limit. Fails if the problem is inconsistent, or with V9 if this order exceeds the limit.
llvm::Expected<Solution> programOrder(const Problem &problem);

/// List scheduling (solvers/list_order.h): the fastest of a few rules, and of program order if it keeps to the memory
/// limit, without choices and with those that solvers/choice_search.h tries. Fails if the problem is inconsistent, or
/// if no order was found that keeps to the limit.
llvm::Expected<Solution> list(const Problem &problem);

/// Improves the solution of `list` within a budget of orders that are tried, and tries more merges. Every host finds
/// the same solution. Fails as `list` does.
llvm::Expected<Solution> search(const Problem &problem);

/// A solver and the name that `--schedule` gives it.
struct NamedSolver {
  llvm::StringLiteral name;
  llvm::Expected<Solution> (*solve)(const Problem &problem);
};

/// All solvers, the one with the least effort first.
llvm::ArrayRef<NamedSolver> solvers();

/// The name of the solver that is used where none is named.
inline constexpr llvm::StringLiteral defaultSolver = "list";

/// Null if no solver has this name.
const NamedSolver *findSolver(llvm::StringRef name);

/// "'program', 'list' and 'search'", for messages.
std::string namesOfSolvers();

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_ALGORITHMS_H

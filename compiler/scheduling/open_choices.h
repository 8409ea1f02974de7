//===- open_choices.h - what a problem leaves open --------------*- C++ -*-===//
//
// What a solution may decide besides the order: which collectives become one, and what is split into parts. choices.h
// says what deciding it makes of the problem.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_OPEN_CHOICES_H
#define MESHPLAN_COMPILER_SCHEDULING_OPEN_CHOICES_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <string>
#include <vector>

namespace meshplan::scheduling {

/// Bytes for each rank class.
using ClassBytes = llvm::SmallVector<int64_t, 2>;

/// Bytes that an operation sends over a link, on the rank that sends most.
struct Transfer {
  unsigned link = 0; ///< index into Problem::links
  int64_t bytes = 0;

  bool operator==(const Transfer &) const = default;
};

/// A collective that may be merged with others, and what that costs. Where tensors of several collectives are copied
/// into one buffer before they are sent, `sent` are the bytes of its own; where they are copied out of one after they
/// are received, `received`. Empty means that nothing is copied.
struct MergeMember {
  unsigned operation = 0; ///< index into Problem::operations; has no copies of its own and overwrites nothing
  int64_t bytes = 0;      ///< that count for Mergeable::mostBytes
  int64_t packTime = 0;   ///< to copy what it sends, besides Mergeable::leastCopyTime
  int64_t unpackTime = 0; ///< to copy what it receives
  ClassBytes sent, received;

  bool operator==(const MergeMember &) const = default;
};

/// Collectives of one kind, communicator and dtype. A solution may merge any of them into one (choices.h): this saves
/// what each of them costs whatever its size, and costs waiting for the last input, copies, and results that all begin
/// to exist at once.
struct Mergeable {
  std::string name;
  llvm::SmallVector<MergeMember, 4> members;
  int64_t mostBytes = 0;     ///< limit of the bytes of a merged collective; 0 if there is none
  int64_t leastCopyTime = 0; ///< of a copy into a buffer or out of it, however small
  /// The part of the transfers of each member that does not depend on its size: several together have it once.
  llvm::SmallVector<Transfer, 1> once;

  bool operator==(const Mergeable &) const = default;
};

/// An operation of a Splittable, and each of its parts: they cost the same.
struct SplitMember {
  unsigned operation = 0;                   ///< index into Problem::operations
  int64_t duration = 0;                     ///< as Operation's
  int64_t latency = 0;                      ///< as Operation's
  llvm::SmallVector<Transfer, 2> transfers; ///< as Operation's
  ClassBytes workspace;                     ///< as Operation's
  ClassBytes bytes;                         ///< of the result of a part
  /// Buffers of which each part reads its own rows, besides the results of members; all others it reads whole.
  llvm::SmallVector<unsigned, 1> rows;
  /// To copy the results of all parts into one tensor, for operations that are not split and read it.
  int64_t joinTime = 0;

  bool operator==(const SplitMember &) const = default;
};

/// Operations that work on rows independently of each other, collectives among them: a product and the collective that
/// sums its result, a gather and the products that read what it gathers. A solution may split all of them into parts
/// (choices.h), so that the product of one part runs beside the collective of another. A member reads the results
/// of other members by part.
struct Splittable {
  std::string name;
  unsigned parts = 2;
  std::vector<SplitMember> members; ///< in the order of the problem

  bool operator==(const Splittable &) const = default;
};

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_OPEN_CHOICES_H

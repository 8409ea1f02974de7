//===- execution.h - what all ranks of an execution know --------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_EXECUTION_H
#define MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_EXECUTION_H

#include "compiler/scheduling/solution.h"
#include "test/lib/problem/execution/payload.h"

namespace meshplan::scheduling {

/// What several coordinates take part in: an instance.
struct Meeting {
  std::string name;
  std::vector<unsigned> coordinates; ///< ascending
};

/// Where a rank is.
struct Place {
  unsigned coordinate = 0; ///< index into the list of coordinates
  int64_t local = 0;       ///< rank in the mesh of the coordinate
};

/// The ranks, the meetings, and what each operation gives. Ranks of one coordinate follow one another.
class Execution {
public:
  /// `coordinates` must outlive it.
  Execution(llvm::ArrayRef<Coordinate> coordinates, uint64_t seed);

  int64_t size() const { return local * static_cast<int64_t>(coordinates.size()); }
  Place placeOf(int64_t rank) const { return {static_cast<unsigned>(rank / local), rank % local}; }
  const Coordinate &at(Place place) const { return coordinates[place.coordinate]; }

  /// The ranks of a communicator inside the coordinate, and of a meeting, that `place` is one of.
  std::vector<int64_t> groupOf(Place place, const Communicator &communicator) const;
  std::vector<int64_t> groupOf(Place place, const Meeting &meeting) const;

  /// In an order that agrees with the lists of all coordinates, if there is one.
  llvm::ArrayRef<Meeting> meetings() const { return ordered; }
  /// The meetings of one launch, as indices, in this order.
  std::vector<unsigned> meetingsOf(const Operation &operation) const;

  /// Elements that an operation moves and leaves in each of its buffers, and that ranks exchange in a meeting.
  size_t countOf(unsigned coordinate, unsigned operation) const;
  size_t countOf(unsigned meeting) const;

  /// What the rank gives to a collective and to a meeting, and what all ranks together make of it.
  Payload part(Place place, unsigned operation) const;
  Payload sum(Place place, unsigned operation) const;
  Payload partIn(Place place, unsigned meeting) const;
  Payload sumOf(Place place, unsigned meeting) const;

  /// What the operation leaves in its buffers.
  Payload result(Place place, unsigned operation) const;

private:
  void addMeetings();
  void orderMeetings();
  size_t drawCount(std::initializer_list<uint64_t> numbers) const;

  llvm::ArrayRef<Coordinate> coordinates;
  uint64_t seed;
  std::vector<int64_t> mesh; // sizes of axes inside a coordinate
  int64_t local = 1;         // their product
  std::vector<Meeting> ordered;
};

} // namespace meshplan::scheduling

#endif // MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_EXECUTION_H

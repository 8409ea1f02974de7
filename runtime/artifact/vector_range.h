//===- vector_range.h - loops over vectors of an artifact ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_ARTIFACT_VECTOR_RANGE_H
#define MESHPLAN_RUNTIME_ARTIFACT_VECTOR_RANGE_H

#include <flatbuffers/flatbuffers.h>
#include <type_traits>

namespace meshplan {

template <typename Vector> struct Elements {
  const Vector *vector;

  struct Iterator {
    const Vector *vector;
    flatbuffers::uoffset_t index;

    decltype(auto) operator*() const {
      if constexpr (std::is_pointer_v<decltype(vector->Get(index))>)
        return *vector->Get(index);
      else
        return vector->Get(index);
    }
    Iterator &operator++() {
      ++index;
      return *this;
    }
    bool operator==(const Iterator &) const = default;
  };
  Iterator begin() const { return {vector, 0}; }
  Iterator end() const { return {vector, vector ? vector->size() : 0}; }
};

/// A range over a vector of a table. It is empty if the table does not have the vector. Its elements are references to
/// tables and structs, or numbers.
template <typename Vector> Elements<Vector> elementsOf(const Vector *vector) { return {vector}; }

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_ARTIFACT_VECTOR_RANGE_H

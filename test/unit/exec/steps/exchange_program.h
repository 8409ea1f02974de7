//===- exchange_program.h - programs that exchange rows ---------*- C++ -*-===//
//
// A layer of experts of which each rank has some, with the gradients of its tokens and weights, as the compiler writes
// it: a route, an exchange to the experts, a product, and an exchange back.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_UNIT_EXEC_STEPS_EXCHANGE_PROGRAM_H
#define MESHPLAN_TEST_UNIT_EXEC_STEPS_EXCHANGE_PROGRAM_H

#include "test/unit/exec/run_schedule.h"

#include <ostream>

namespace meshplan {

/// Which axes divide the tokens [samples, positions] and the experts. Those that are exchanged divide both.
struct ExchangeAxes {
  const char *name;
  std::vector<std::pair<std::string, int64_t>> mesh;
  std::vector<std::string> samples, positions, kept, exchanged;
};

inline void PrintTo(const ExchangeAxes &split, std::ostream *out) { *out << split.name; }

struct LayerSizes {
  int64_t experts = 6, samples = 6, positions = 4, slots = 2, hidden = 3, features = 5;
};

class ExchangeProgram {
public:
  ExchangeProgram(ExchangeAxes split, LayerSizes sizes, DType dtype);

  /// Rows of tokens, of a route that was added; and the numbers of rows of each rank, which all ranks know.
  int dispatch(int tokens, int64_t features);
  void gatherNumbers();
  void setNumbers(int value) { numbers = value; }

  int toExperts(int rows, int64_t features);
  int fromExperts(int rows, int64_t features);

  /// y [samples, positions, features] of x and its experts' weights; the gradients dx and dw for the gradient g of y.
  void addLayer();

  ScheduleBuilder builder;
  int indices = -1, table = -1, counts = -1, numbers = -1;

private:
  std::vector<TestDim> home(int64_t features) const { return dims(split.kept, false, features); }
  std::vector<TestDim> away(int64_t features) const { return dims(expertAxes(), true, features); }
  std::vector<TestDim> dims(std::vector<std::string> experts, bool isAway, int64_t features) const;
  std::vector<std::string> expertAxes() const;
  std::vector<std::string> withoutExchanged(const std::vector<std::string> &axes) const;
  int rowsValue(std::vector<TestDim> dims, artifact::RoutedKind kind, DType dtype);
  std::vector<artifact::ArgT> orderArgs(std::string name, int rows, int ordered) const;
  int linear(int rows, int weight, int counts, int64_t features, bool transposed);
  int combine(int rows, int64_t features);
  int summed(int addends, std::vector<TestDim> dims, std::vector<std::string> axes);

  ExchangeAxes split;
  LayerSizes sizes;
  DType dtype;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_EXEC_STEPS_EXCHANGE_PROGRAM_H

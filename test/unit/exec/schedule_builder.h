//===- schedule_builder.h - small schedules ---------------------*- C++ -*-===//
//
// Builds a schedule without the compiler. Needs no LibTorch; run_schedule.h runs it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_UNIT_EXEC_SCHEDULE_BUILDER_H
#define MESHPLAN_TEST_UNIT_EXEC_SCHEDULE_BUILDER_H

#include "runtime/artifact/artifact.h"
#include "runtime/base/dtype.h"

#include <string>
#include <vector>

namespace meshplan {

using Kind = artifact::CollectiveKind;

/// A dim and the names of the mesh axes over which it is sharded; "dp:2:3" is the digit of size 3 of dp below one of
/// size 2.
struct TestDim {
  int64_t extent;
  std::vector<std::string> axes = {};
  int64_t unit = 1;
  std::vector<int64_t> parts = {};
};

/// Which tensors of a coalesced collective are in the order of a buffer; the others are packed or unpacked.
struct InBuffer {
  bool inputs = false, targets = false;
};

class ScheduleBuilder {
public:
  explicit ScheduleBuilder(std::vector<std::pair<std::string, int64_t>> mesh);

  int value(std::vector<TestDim> dims, DType dtype = DType::f64, std::vector<std::string> partial = {},
            artifact::Reduction reduction = artifact::Reduction::sum);
  int input(std::string name, std::vector<TestDim> dims, DType dtype = DType::f64);
  /// Makes a shard flat over these axes, too.
  int flat(int value, std::vector<std::string> axes);
  /// Makes a value rows, counts or arrivals of experts.
  int routed(int value, artifact::RoutedKind kind, int dims, int64_t slots);
  int parameter(std::vector<std::string> names, std::vector<TestDim> dims, DType dtype = DType::f64);
  int constant(std::string name, std::vector<TestDim> dims, DType dtype, std::span<const std::byte> whole);
  void output(std::string name, int value);

  /// Adds instructions; the caller creates the value of a result first.
  void compute(std::string target, std::vector<artifact::ArgT> args, std::vector<int> outputs);
  /// Start and Wait over the axes; packs and unpacks along an inner dim or one with parts, but not rows of experts.
  void collective(Kind kind, std::vector<std::string> axes, int input, int output, int dim = -1, int fromDim = -1);
  /// Start and Wait of an exchange of rows by their numbers.
  void exchange(std::vector<std::string> axes, int input, int output, int counts);
  /// One of several tensors.
  void bucket(Kind kind, std::vector<std::string> axes, std::vector<int> inputs, std::vector<int> outputs,
              std::vector<int> targets = {}, InBuffer inBuffer = {});
  /// A value with these members; and instructions that make it, or take its members out of it.
  int packed(std::vector<int> members);
  int pack(std::vector<int> inputs, bool inPlace = false);
  void unpack(int input, std::vector<int> outputs, std::vector<int> targets = {}, bool inPlace = false);
  /// Its content is arbitrary when a step starts.
  void accumulator(std::string name, int value);
  /// Values in contiguous memory.
  void buffer(std::string name, std::vector<int> values, bool registered = false);
  void slice(int input, int output);
  void free(std::vector<int> values);
  /// Puts a value into host memory.
  void onHost(int value);
  /// Copy and Wait.
  void copy(int input, int output, int target = -1);

  /// Instructions from here on come from this module and this line of "test.plan".
  void origin(std::string module, int line, std::string text);

  artifact::ScheduleT &schedule() { return table; }
  artifact::ProgramT &program() { return *table.programs[0]; }
  int64_t worldSize() const;
  /// The number of shards over the axes.
  int64_t sizeOf(const std::vector<std::string> &axes) const;

  /// Writes the file.
  void write(const std::string &path) const;

private:
  artifact::AxisRef axis(const std::string &name) const;
  std::vector<artifact::AxisRef> axes(const std::vector<std::string> &names) const;
  int communicator(const std::vector<std::string> &axes);
  artifact::StartT startOf(Kind kind, const std::vector<std::string> &axes, int like, int input, int output);
  void wait();
  template <typename Action> void add(Action action);

  artifact::ScheduleT table;
  int currentOrigin = -1;
  int nextSequence = 0;
};

artifact::ArgT tensorArg(std::string name, int value);
artifact::ArgT tensorsArg(std::string name, std::vector<int> values);
artifact::ArgT integerArg(std::string name, artifact::IntExpr integer);
artifact::ArgT integersArg(std::string name, std::vector<artifact::IntExpr> integers);
artifact::ArgT realArg(std::string name, double real);
artifact::ArgT dtypeArg(std::string name, DType dtype);
inline artifact::IntExpr literal(int64_t value) { return {value, -1, 0, 0, 0}; }
inline artifact::IntExpr extentOf(int value, int dim) { return {0, value, dim, 0, 1}; }
inline artifact::IntExpr offsetOf(int value, int dim) { return {0, value, dim, 1, 0}; }

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_EXEC_SCHEDULE_BUILDER_H

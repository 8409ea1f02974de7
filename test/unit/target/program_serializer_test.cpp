//===- program_serializer_test.cpp - one program as an artifact's table ---===//

#include "compiler/target/artifact/attribute_tables.h"
#include "compiler/target/artifact/program_serializer.h"
#include "test/unit/target/sched_module.h"
#include <array>

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// The table of the first program of a module, whose communicators start at 5.
class ProgramSerializer : public testing::Test {
protected:
  std::unique_ptr<artifact::ProgramT> serialize(const std::string &text) {
    module.emplace(text);
    EXPECT_TRUE(module->get()) << testing::PrintToString(module->messages);
    ModuleTables tables;
    int32_t number = 5;
    for (const char *communicator : {"tp", "dp", "dp_tp"})
      tables.communicators[communicator] = number++;
    auto table = serializeProgram(*module->get().getOps<sched::ProgramOp>().begin(), tables);
    tables.origins.moveInto(shared);
    return failed(table) ? nullptr : std::move(*table);
  }
  std::unique_ptr<artifact::ProgramT> serializeBody(const std::string &body) {
    return serialize(schedHead + "sched.program @f {\n" + body + "\n}\n");
  }
  std::unique_ptr<artifact::ProgramT> right(const std::string &body) {
    auto table = serializeBody(body);
    EXPECT_TRUE(table) << testing::PrintToString(module->messages);
    return table ? std::move(table) : std::make_unique<artifact::ProgramT>();
  }

  std::optional<SchedModule> module;
  artifact::ScheduleT shared;
};

using Triple = std::array<int64_t, 3>;

std::vector<Triple> partsOf(const artifact::DimT &dim) {
  std::vector<Triple> result;
  for (const artifact::DimPart &part : dim.parts)
    result.push_back({part.extent(), part.unit(), part.repeat()});
  return result;
}

std::vector<Triple> triples(const std::vector<artifact::AxisRef> &axes) {
  std::vector<Triple> result;
  for (const artifact::AxisRef &axis : axes)
    result.push_back({axis.axis(), axis.pre(), axis.size()});
  return result;
}

TEST_F(ProgramSerializer, AnEmptyProgramHasItsNameOnly) {
  auto table = right("");
  EXPECT_EQ(table->name, "f");
  EXPECT_THAT(table->values, IsEmpty());
  EXPECT_THAT(table->instructions, IsEmpty());
  EXPECT_EQ(table->memory, nullptr);
  EXPECT_THAT(table->devices, IsEmpty());
}

TEST_F(ProgramSerializer, AxesKeepTheirDigitsAndTheirOrder) {
  EXPECT_THAT(triples(toAxisRefTable({{1, 2, 3}, {0, 1, 2}})), ElementsAre(Triple{1, 2, 3}, Triple{0, 1, 2}));
  EXPECT_THAT(toAxisRefTable({}), IsEmpty());
  auto table =
      serialize(schedHead + "sched.program @f devices [#base.mesh_axis<\"b\" = 4>, #base.mesh_axis<\"a\" = 1>] "
                            "memory <parameters = 1, constants = 2, inputs = 3, peak = 40, least = 5> {}");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->devices.size(), 2u);
  EXPECT_EQ(table->devices[0]->name, "b");
  EXPECT_EQ(table->devices[0]->size, 4);
  EXPECT_EQ(table->devices[1]->name, "a");
  EXPECT_EQ(table->memory->parameters, 1);
  EXPECT_EQ(table->memory->constants, 2);
  EXPECT_EQ(table->memory->inputs, 3);
  EXPECT_EQ(table->memory->peak, 40);
}

TEST_F(ProgramSerializer, AValueHasAllOfItsLayout) {
  auto table = right("%x = sched.input \"x\" : <[24 over {1:(1)3, 0:(1)2} parts [16 unit 4 repeat 2, 8], 7, "
                     "12 unit 2 repeat 3], i64>\n%y = sched.input \"y\" : <[], f16>\n"
                     "%z = sched.input \"z\" : <[2], f32, partial = max {1:(1)3, 0:(1)2}>");
  ASSERT_EQ(table->values.size(), 3u);
  const artifact::ValueT &x = *table->values[0];
  EXPECT_EQ(x.dtype, artifact::DType::i64);
  ASSERT_EQ(x.dims.size(), 3u);
  EXPECT_EQ(x.dims[0]->extent, 24);
  EXPECT_THAT(triples(x.dims[0]->axes), ElementsAre(Triple{1, 1, 3}, Triple{0, 1, 2}));
  EXPECT_EQ(x.dims[0]->unit, 1);
  EXPECT_THAT(partsOf(*x.dims[0]), ElementsAre(Triple{16, 4, 2}, Triple{8, 1, 1}));
  EXPECT_EQ(x.dims[0]->repeat, 1);
  EXPECT_EQ(x.dims[1]->extent, 7);
  EXPECT_THAT(x.dims[1]->axes, IsEmpty());
  EXPECT_EQ(x.dims[1]->unit, 1);
  EXPECT_THAT(x.dims[1]->parts, IsEmpty());
  EXPECT_EQ(x.dims[2]->unit, 2);
  EXPECT_EQ(x.dims[2]->repeat, 3);
  EXPECT_EQ(x.partial, artifact::Reduction::none);
  EXPECT_THAT(x.partial_axes, IsEmpty());
  EXPECT_THAT(table->values[1]->dims, IsEmpty());
  EXPECT_EQ(table->values[1]->dtype, artifact::DType::f16);
  EXPECT_EQ(table->values[2]->partial, artifact::Reduction::max);
  EXPECT_THAT(triples(table->values[2]->partial_axes), ElementsAre(Triple{1, 1, 3}, Triple{0, 1, 2}));
}

TEST_F(ProgramSerializer, NamesOfDimsBelongToInputsThatHaveThem) {
  auto table = right("%x = sched.input \"x\" dims [\"batch\", \"\"] : <[2, 3], f32>\n"
                     "%y = sched.input \"y\" : <[2], f32>\nsched.output \"out\" %y : <[2], f32>\n"
                     "sched.output \"again\" %x : <[2, 3], f32>");
  EXPECT_EQ(table->values[0]->dims[0]->name, "batch");
  EXPECT_EQ(table->values[0]->dims[1]->name, "");
  EXPECT_EQ(table->values[1]->dims[0]->name, "");
  ASSERT_EQ(table->inputs.size(), 2u);
  EXPECT_EQ(table->inputs[1]->name, "y");
  EXPECT_EQ(table->inputs[1]->value, 1);
  ASSERT_EQ(table->outputs.size(), 2u);
  EXPECT_EQ(table->outputs[0]->name, "out");
  EXPECT_EQ(table->outputs[0]->value, 1);
  EXPECT_EQ(table->outputs[1]->value, 0);
}

TEST_F(ProgramSerializer, ParametersAreTrainableOrNot) {
  auto table = right("%v = sched.parameter [\"a\", \"b\"] trainable : <[2], f32>\n"
                     "%w = sched.parameter [\"c\"] : <[2], bf16>");
  ASSERT_EQ(table->parameters.size(), 2u);
  EXPECT_THAT(table->parameters[0]->names, ElementsAre("a", "b"));
  EXPECT_TRUE(table->parameters[0]->trainable);
  EXPECT_EQ(table->parameters[0]->value, 0);
  EXPECT_FALSE(table->parameters[1]->trainable);
  EXPECT_EQ(table->parameters[1]->value, 1);
}

/// A collective, and the expected content of its table.
struct CollectiveCase {
  const char *step, *from, *to;
  artifact::CollectiveKind kind;
  int32_t communicator, dim, fromDim;
  artifact::Reduction reduction;
};

TEST_F(ProgramSerializer, EveryCollectiveHasItsDimsAndItsReduction) {
  using artifact::CollectiveKind;
  using artifact::Reduction;
  const CollectiveCase cases[] = {
      {"all_gather %x dim 1 over @dp", "[8, 8 over {0:(1)2}], f32", "[8, 8], f32", CollectiveKind::all_gather, 6, 1, -1,
       Reduction::none},
      // The addends over the other axis stay unreduced.
      {"all_gather %x dim 0 over @tp", "[9 over {1:(1)3}], f32, partial = sum {0:(1)2}",
       "[9], f32, partial = sum {0:(1)2}", CollectiveKind::all_gather, 5, 0, -1, Reduction::none},
      {"reduce_scatter %x dim 0 over @tp", "[9], f32, partial = sum {1:(1)3}", "[9 over {1:(1)3}], f32",
       CollectiveKind::reduce_scatter, 5, 0, -1, Reduction::sum},
      {"all_reduce %x over @dp_tp", "[9], f32, partial = max {0:(1)2, 1:(1)3}", "[9], f32", CollectiveKind::all_reduce,
       7, -1, -1, Reduction::max},
      {"all_reduce %x over @dp", "[9], f32, partial = min {0:(1)2}", "[9], f32", CollectiveKind::all_reduce, 6, -1, -1,
       Reduction::min},
      {"all_to_all %x from 0 dim 1 over @tp", "[9 over {1:(1)3}, 6], f32", "[9, 6 over {1:(1)3}], f32",
       CollectiveKind::all_to_all, 5, 1, 0, Reduction::none},
  };
  for (const CollectiveCase &c : cases) {
    auto table = serialize(schedCollective(c.step, c.from, c.to));
    ASSERT_TRUE(table) << c.step << testing::PrintToString(module->messages);
    ASSERT_EQ(table->instructions.size(), 2u);
    const artifact::StartT &start = *table->instructions[0]->action.AsStart();
    EXPECT_EQ(start.kind, c.kind) << c.step;
    EXPECT_EQ(start.communicator, c.communicator) << c.step;
    EXPECT_EQ(start.dim, c.dim) << c.step;
    EXPECT_EQ(start.from_dim, c.fromDim) << c.step;
    EXPECT_EQ(start.reduction, c.reduction) << c.step;
    EXPECT_EQ(start.counts, -1) << c.step;
    EXPECT_EQ(start.input, 0);
    EXPECT_EQ(start.output, 1);
    EXPECT_EQ(table->instructions[1]->origin, table->instructions[0]->origin);
    EXPECT_EQ(shared.sources.at(shared.origins.at(table->instructions[0]->origin)->plan)->line, 3);
  }
}

TEST_F(ProgramSerializer, AnExchangeHasTheNumbersOfRows) {
  auto table = right(R"(
    %n = sched.input "n" : <[2, 8], i64>
    %r = sched.compute "aten.op"() {}
      : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 3>>
    %t = sched.start all_to_all %r over @dp sequence 0
      : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 3>>
      -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 3>>>
      by %n : !sched.tensor<[2, 8], i64>
    %a = sched.wait %t
      : !sched.token<!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 3>>>
    sched.free %r, %a
      : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 3>>,
        !sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 3>>
  )");
  ASSERT_EQ(table->instructions.size(), 4u);
  const artifact::StartT &start = *table->instructions[1]->action.AsStart();
  EXPECT_EQ(start.kind, artifact::CollectiveKind::all_to_all);
  EXPECT_EQ(start.counts, table->inputs[0]->value);
  EXPECT_EQ(start.dim, -1);
  EXPECT_EQ(start.from_dim, -1);
  EXPECT_EQ(start.target, -1);
  const artifact::ValueT &sent = *table->values[start.input], &received = *table->values[start.output];
  EXPECT_EQ(sent.routed->kind, artifact::RoutedKind::rows);
  EXPECT_EQ(received.routed->kind, artifact::RoutedKind::arrivals);
  EXPECT_EQ(received.routed->dims, 2);
  EXPECT_EQ(received.routed->slots, 3);
}

const std::string overlapped = R"(
  %x = sched.input "x" : <[6 over {0:(1)2}], f32>
  %w = sched.input "w" : <[6 over {1:(1)3}], f32>
  %s = sched.start all_gather %x dim 0 over @dp sequence 0
    : !sched.tensor<[6 over {0:(1)2}], f32> -> <!sched.tensor<[6], f32>>
  %t = sched.start all_gather %w dim 0 over @tp sequence 1
    : !sched.tensor<[6 over {1:(1)3}], f32> -> <!sched.tensor<[6], f32>>
  %n = sched.compute "aten.neg.default"(%x) {self = #base.operand<0>}
    : (!sched.tensor<[6 over {0:(1)2}], f32>) -> !sched.tensor<[6 over {0:(1)2}], f32>
  %m = sched.compute "aten.neg.default"(%n) {self = #base.operand<0>}
    : (!sched.tensor<[6 over {0:(1)2}], f32>) -> !sched.tensor<[6 over {0:(1)2}], f32>
  %b = sched.wait %t : !sched.token<!sched.tensor<[6], f32>>
  %a = sched.wait %s : !sched.token<!sched.tensor<[6], f32>>
  %h = sched.slice %b : <[6], f32> -> <[6 over {0:(1)2}], f32>
  sched.free %n, %m : !sched.tensor<[6 over {0:(1)2}], f32>, !sched.tensor<[6 over {0:(1)2}], f32>
  sched.output "a" %a : <[6], f32>
  sched.output "h" %h : <[6 over {0:(1)2}], f32>
  sched.output "b" %b : <[6], f32>
)";

TEST_F(ProgramSerializer, TheResultOfACollectiveIsAValueFromItsStartOn) {
  auto table = right(overlapped);
  ASSERT_EQ(table->instructions.size(), 8u);
  ASSERT_EQ(table->values.size(), 6u) << "neither a wait nor a result that nothing reads makes a value";
  const artifact::StartT &first = *table->instructions[0]->action.AsStart();
  const artifact::StartT &second = *table->instructions[1]->action.AsStart();
  const artifact::ComputeT &compute = *table->instructions[2]->action.AsCompute();
  EXPECT_EQ(first.output, 2);
  EXPECT_EQ(second.output, 3);
  EXPECT_THAT(compute.outputs, ElementsAre(4));
  EXPECT_THAT(compute.args.at(0)->values, ElementsAre(0));
  EXPECT_EQ(table->outputs.at(0)->value, first.output);
  const artifact::SliceT &slice = *table->instructions[6]->action.AsSlice();
  EXPECT_EQ(slice.input, second.output);
  EXPECT_EQ(slice.output, 5);
  EXPECT_EQ(table->outputs.at(1)->value, slice.output);
}

TEST_F(ProgramSerializer, BuffersHoldValuesThatCollectivesArePutInto) {
  auto table = right(R"(
  %a = sched.state "a.gradient" scratch : <[8], f32, partial = sum {0:(1)2}>
  %b = sched.state "b.sum" : <[4], f32, partial = sum {0:(1)2}>
  sched.buffer "gradients" %b, %a registered : !sched.tensor<[4], f32, partial = sum {0:(1)2}>, !sched.tensor<[8], f32, partial = sum {0:(1)2}>
  %p = sched.pack %b, %a in_place : !sched.packed<<[4], f32, partial = sum {0:(1)2}>, <[8], f32, partial = sum {0:(1)2}>>
  %t = sched.start all_reduce %p over @dp sequence 0 : !sched.packed<<[4], f32, partial = sum {0:(1)2}>, <[8], f32, partial = sum {0:(1)2}>> -> <!sched.packed<<[4], f32>, <[8], f32>>> into %p : !sched.packed<<[4], f32, partial = sum {0:(1)2}>, <[8], f32, partial = sum {0:(1)2}>>
  %w = sched.wait %t : !sched.token<!sched.packed<<[4], f32>, <[8], f32>>>
  %r:2 = sched.unpack %w in_place : !sched.packed<<[4], f32>, <[8], f32>>
  sched.free %p, %w : !sched.packed<<[4], f32, partial = sum {0:(1)2}>, <[8], f32, partial = sum {0:(1)2}>>, !sched.packed<<[4], f32>, <[8], f32>>
  sched.output "b" %r#0 : <[4], f32>
  sched.output "a" %r#1 : <[8], f32>)");
  ASSERT_EQ(table->accumulators.size(), 2u);
  EXPECT_TRUE(table->accumulators[0]->scratch);
  EXPECT_FALSE(table->accumulators[1]->scratch);
  ASSERT_EQ(table->buffers.size(), 1u);
  EXPECT_EQ(table->buffers[0]->name, "gradients");
  EXPECT_THAT(table->buffers[0]->values, ElementsAre(1, 0));
  EXPECT_TRUE(table->buffers[0]->registered);
  // a, b, packed b and a, their sums and these packed.
  ASSERT_EQ(table->values.size(), 6u);
  EXPECT_THAT(table->values[2]->members, ElementsAre(1, 0));
  EXPECT_THAT(table->values[5]->members, ElementsAre(3, 4));
  const artifact::PackRunT &pack = *table->instructions[0]->action.AsPackRun();
  EXPECT_THAT(pack.inputs, ElementsAre(1, 0));
  EXPECT_EQ(pack.output, 2);
  EXPECT_TRUE(pack.in_place);
  const artifact::StartT &start = *table->instructions[1]->action.AsStart();
  EXPECT_EQ(start.input, 2);
  EXPECT_EQ(start.target, 2);
  EXPECT_EQ(start.output, 5);
  const artifact::UnpackRunT &unpack = *table->instructions[3]->action.AsUnpackRun();
  EXPECT_EQ(unpack.input, 5);
  EXPECT_THAT(unpack.outputs, ElementsAre(3, 4));
  EXPECT_TRUE(unpack.targets.empty());
  EXPECT_TRUE(unpack.in_place);
}

TEST_F(ProgramSerializer, AWaitNamesItsStart) {
  auto table = right(overlapped);
  ASSERT_EQ(table->instructions.size(), 8u);
  EXPECT_EQ(table->instructions[0]->action.AsStart()->sequence, 0);
  EXPECT_EQ(table->instructions[1]->action.AsStart()->sequence, 1);
  EXPECT_EQ(table->instructions[4]->action.AsWait()->sequence, 1);
  EXPECT_EQ(table->instructions[5]->action.AsWait()->sequence, 0);
}

TEST_F(ProgramSerializer, ACopyGivesAValueInTheOtherMemoryFromItsStartOn) {
  auto table = right(R"(
    %w = sched.parameter ["w"] host : <[4], f32>
    %t = sched.copy %w sequence 0 : <[4], f32> -> <!sched.tensor<[4], f32>>
    %c = sched.wait %t : !sched.token<!sched.tensor<[4], f32>>
    %u = sched.copy %c host sequence 1 : <[4], f32> -> <!sched.tensor<[4], f32>> into %w : !sched.tensor<[4], f32>
    %h = sched.wait %u : !sched.token<!sched.tensor<[4], f32>>
    sched.free %c : !sched.tensor<[4], f32>
    sched.update %h to %w : <[4], f32> to <[4], f32>)");
  ASSERT_EQ(table->values.size(), 3u);
  EXPECT_FALSE(table->values[1]->host);
  EXPECT_TRUE(table->values[2]->host);
  ASSERT_EQ(table->instructions.size(), 5u);
  const artifact::CopyT &there = *table->instructions[0]->action.AsCopy();
  EXPECT_EQ(there.input, 0);
  EXPECT_EQ(there.output, 1);
  EXPECT_EQ(there.target, -1);
  EXPECT_EQ(table->instructions[1]->action.AsWait()->sequence, 0);
  const artifact::CopyT &back = *table->instructions[2]->action.AsCopy();
  EXPECT_EQ(back.input, 1);
  EXPECT_EQ(back.output, 2);
  EXPECT_EQ(back.target, 0);
  EXPECT_EQ(back.sequence, 1);
  EXPECT_EQ(table->instructions[3]->action.AsWait()->sequence, 1);
}

TEST_F(ProgramSerializer, AFreeNamesItsValuesAndHasNoOrigin) {
  auto table = right(overlapped);
  ASSERT_EQ(table->instructions.size(), 8u);
  EXPECT_THAT(table->instructions[7]->action.AsFree()->values, ElementsAre(4));
  EXPECT_EQ(table->instructions[7]->origin, -1);
}

TEST_F(ProgramSerializer, WhatHasNoPlaceFailsWithItsReason) {
  EXPECT_EQ(serializeBody("%x = sched.input \"x\" : <[2], i5>"), nullptr);
  EXPECT_THAT(module->messages,
              ElementsAre("'sched.input' op has the element type 'i5', which the artifact cannot represent"));
  EXPECT_EQ(serializeBody("%x = sched.compute \"aten.op\"() {} : () -> !sched.tensor<[2], f80>\n"
                          "sched.output \"y\" %x : <[2], f80>"),
            nullptr);
  EXPECT_THAT(module->messages, ElementsAre("'sched.compute' op has the element type 'f80', which the "
                                            "artifact cannot represent"));
  EXPECT_EQ(serializeBody("%c = sched.constant \"c\" dense_resource<none> : tensor<2xi16> : <[2], i16>"), nullptr);
  EXPECT_THAT(module->messages, ElementsAre("'sched.constant' op 'c' has no bytes in this module"));
}

} // namespace

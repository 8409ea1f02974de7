//===- describe_test.cpp - invalid artifacts, and shared tables -----------===//

#include "compiler/target/artifact/artifact.h"
#include "runtime/schema/format.h"
#include "test/unit/schema/artifact_bytes.h"
#include "gtest/gtest.h"

using namespace meshplan;

namespace {

/// The text of an artifact, or its error.
std::string describe(const std::vector<uint8_t> &bytes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::Error error = describeArtifact(bytes, stream);
  return error ? llvm::toString(std::move(error)) : text;
}

TEST(DescribeArtifact, RefusesOtherBytes) {
  const std::string checksum = "not an artifact: its last bytes are not the checksum of the others",
                    form = "not an artifact: its bytes are not well-formed";
  EXPECT_EQ(describe({}), checksum);
  std::vector<uint8_t> garbage(100, 0x5a);
  EXPECT_EQ(describe(garbage), checksum);
  EXPECT_EQ(describe(withChecksum(garbage)), form);
  EXPECT_EQ(describe(withChecksum({})), form);
  std::vector<uint8_t> half = packed(artifact::ScheduleT());
  half.resize(half.size() / 2);
  EXPECT_EQ(describe(withChecksum(half)), form);
}

TEST(DescribeArtifact, RefusesAnotherFormat) {
  artifact::ScheduleT schedule;
  schedule.format = artifactFormat + 1;
  EXPECT_EQ(describe(withChecksum(packed(schedule))), "an artifact of format 10, this compiler writes format 9");
}

TEST(DescribeArtifact, WhatAllProgramsShare) {
  artifact::ScheduleT schedule;
  schedule.format = artifactFormat;
  schedule.compiler = "1.2.3";
  schedule.plan_name = "mlp";
  schedule.device = "cpu";
  schedule.fingerprint = "abcd";
  for (auto [name, size] : {std::pair("dp", 2), {"tp", 6}}) {
    artifact::AxisT &axis = *schedule.mesh.emplace_back(std::make_unique<artifact::AxisT>());
    axis.name = name;
    axis.size = size;
  }
  artifact::CommunicatorT &group = *schedule.communicators.emplace_back(std::make_unique<artifact::CommunicatorT>());
  group.name = "dp_tp";
  // A whole axis is printed as its name, a digit as its position, and an axis that the mesh lacks as its number.
  group.axes = {{0, 1, 2}, {1, 2, 3}, {2, 1, 4}, {-1, 1, 4}};
  artifact::SourceT &source = *schedule.sources.emplace_back(std::make_unique<artifact::SourceT>());
  source.file = "a.plan";
  source.line = 3;
  source.column = 4;
  source.text = "rowwise tp";
  artifact::OriginT &origin = *schedule.origins.emplace_back(std::make_unique<artifact::OriginT>());
  origin.plan = 0;
  origin.module_ = "mlp.down";
  EXPECT_EQ(describe(withChecksum(packed(schedule))),
            "schedule format 9 compiler '1.2.3' plan 'mlp' device cpu fingerprint 'abcd'\n"
            "mesh dp=2 tp=6\n"
            "communicator dp_tp: dp, tp:(2)3, #2:(1)4, #-1:(1)4\n"
            "source 0: a.plan:3:4 'rowwise tp'\n"
            "origin 0: source 0 module 'mlp.down'\n");
}

} // namespace

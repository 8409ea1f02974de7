//===- payloads_test.cpp - tensors of a storage, element by element -------===//

#include "compiler/archive/payloads.h"
#include "test/unit/archive/test_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace {

class Payloads : public ::testing::Test {
protected:
  /// A storage of the bytes 0, 1, 2, ... as the member `data/s`, and an empty one as `data/none`.
  void store(size_t size) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i)
      bytes.push_back(static_cast<char>(i));
    path = writeZip({{"data/s", bytes}, {"data/none", ""}});
    archive = ZipArchive::open(path, errors);
    ASSERT_TRUE(archive);
  }
  void TearDown() override {
    if (!path.empty())
      unlink(path.c_str());
  }

  /// The loaded elements, or the error, with the archive's path as FILE.
  std::vector<uint8_t> load(const Payload &payload) {
    fault.clear();
    int64_t growth = 0;
    std::optional<ConstantData> data = loadConstant(payload, "buffer 'b'", *archive, growth, errors);
    EXPECT_EQ(data.has_value(), errors.empty());
    for (const Diagnostic &error : errors) {
      fault = error.message;
      fault.replace(fault.find(path), path.size(), "FILE");
    }
    errors.clear();
    if (data) {
      EXPECT_EQ(data->dims, payload.dims);
      EXPECT_EQ(data->type, payload.type);
    }
    return data ? data->bytes : std::vector<uint8_t>();
  }
  static Payload bytes(std::vector<int64_t> dims, std::vector<int64_t> strides, int64_t offset = 0) {
    return {"data/s", false, ScalarType::UInt8, std::move(dims), std::move(strides), offset};
  }

  std::string path, fault;
  std::vector<Diagnostic> errors;
  std::unique_ptr<ZipArchive> archive;
};

TEST_F(Payloads, ElementsAreReadInTheOrderOfTheirDims) {
  store(12);
  EXPECT_THAT(load(bytes({2, 3}, {3, 1})), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(load(bytes({3, 2}, {1, 3})), ElementsAre(0, 3, 1, 4, 2, 5)) << "transposed";
  EXPECT_THAT(load(bytes({2, 2}, {3, 1}, 4)), ElementsAre(4, 5, 7, 8)) << "a window";
  EXPECT_THAT(load(bytes({2, 2, 2}, {1, 4, 2}, 1)), ElementsAre(1, 3, 5, 7, 2, 4, 6, 8));
  EXPECT_THAT(load(bytes({2, 3}, {0, 1})), ElementsAre(0, 1, 2, 0, 1, 2)) << "expanded";
  EXPECT_THAT(load(bytes({}, {}, 11)), ElementsAre(11)) << "a scalar";
}

TEST_F(Payloads, StridesAndOffsetsCountElements) {
  store(12);
  Payload wide{"data/s", false, ScalarType::Int16, {2}, {3}, 2};
  EXPECT_THAT(load(wide), ElementsAre(4, 5, 10, 11));
  wide.offset = 3;
  load(wide);
  EXPECT_EQ(fault, "'FILE': buffer 'b' needs 14 bytes of 'data/s', which has 12");
}

TEST_F(Payloads, TheLastElementMustBeThere) {
  store(12);
  EXPECT_EQ(load(bytes({12}, {1})).size(), 12u);
  EXPECT_EQ(load(bytes({4, 3}, {3, 1})).size(), 12u);
  for (const Payload &over : {bytes({13}, {1}), bytes({12}, {1}, 1), bytes({2}, {12}), bytes({}, {}, 12)}) {
    load(over);
    EXPECT_THAT(fault, ::testing::HasSubstr("bytes of 'data/s', which has 12"));
  }
}

TEST_F(Payloads, ATensorWithoutElementsNeedsNoBytes) {
  store(12);
  Payload empty = bytes({0, 3}, {3, 1}, 100);
  EXPECT_THAT(load(empty), IsEmpty());
  EXPECT_EQ(fault, "");
  empty.member = "data/none";
  EXPECT_THAT(load(empty), IsEmpty());
  EXPECT_EQ(fault, "");
  EXPECT_TRUE(hasBytes(empty, *archive));
}

TEST_F(Payloads, WhatHasNoBytesIsNamed) {
  store(12);
  EXPECT_TRUE(hasBytes(bytes({1}, {1}), *archive));
  for (const char *member : {"data/none", "data/absent"}) {
    Payload payload = bytes({1}, {1});
    payload.member = member;
    EXPECT_FALSE(hasBytes(payload, *archive));
    load(payload);
    EXPECT_EQ(fault, std::string("'FILE': buffer 'b' has no value: its member '") + member + "' is missing or empty");
  }
  Payload pickled = bytes({1}, {1});
  pickled.pickled = true;
  load(pickled);
  EXPECT_EQ(fault, "'FILE': buffer 'b' is a pickled tensor subclass");
}

TEST_F(Payloads, AScalarOfOneByte) {
  store(1); // the storage of a bool
  EXPECT_THAT(load(bytes({}, {})), ElementsAre(0));
  EXPECT_THAT(load(bytes({1, 1}, {7, 9})), ElementsAre(0)) << "strides of single elements say nothing";
  load(bytes({}, {}, 1));
  EXPECT_EQ(fault, "'FILE': buffer 'b' needs 2 bytes of 'data/s', which has 1");
}

TEST_F(Payloads, ImpossibleNumbersAreRefused) {
  store(12);
  const int64_t huge = INT64_MAX / 2;
  for (const Payload &wrong :
       {bytes({-1}, {1}), bytes({2}, {-1}), bytes({2}, {1}, -1), bytes({2, 2}, {1}), bytes({2}, {1, 1}),
        bytes({huge, huge}, {0, 0}), bytes({3}, {huge + 1}), bytes({2}, {1}, INT64_MAX), bytes({INT64_MAX}, {0})}) {
    load(wrong);
    EXPECT_EQ(fault, "'FILE': buffer 'b' has an impossible shape, stride or offset");
  }
}

TEST_F(Payloads, RepeatedElementsHaveABound) {
  store(12);
  load(bytes({int64_t(1) << 20, 1025}, {0, 0}));
  EXPECT_EQ(fault, "'FILE': buffer 'b' makes the constants more than 1 GiB larger than they are stored, with "
                   "repeated elements written out");
}

Json entry(const char *member, const Json &metadata, bool pickled = false) {
  return {{"path_name", member}, {"use_pickle", pickled}, {"tensor_meta", metadata}};
}

TEST(PayloadTable, HasAllEntries) {
  Json meta = tensorMeta({2, 3}, ScalarType::BFloat16);
  meta["strides"] = {{{"as_int", 1}}, {{"as_int", 2}}};
  meta["storage_offset"] = {{"as_int", 5}};
  std::vector<Diagnostic> errors;
  Json text = {{"config", {{"w", entry("weight_0", meta)}, {"p", entry("weight_1", nullptr, true)}}}};
  JsonDocument document("t.json", text.dump(), errors);
  PayloadTable table = readPayloadTable(document, "data/weights/");
  EXPECT_FALSE(document.failed());
  ASSERT_EQ(table.size(), 2u);
  const Payload &w = table["w"];
  EXPECT_EQ(w.member, "data/weights/weight_0");
  EXPECT_EQ(w.type, ScalarType::BFloat16);
  EXPECT_THAT(w.dims, ElementsAre(2, 3));
  EXPECT_THAT(w.strides, ElementsAre(1, 2));
  EXPECT_EQ(w.offset, 5);
  EXPECT_FALSE(w.pickled);
  EXPECT_TRUE(table["p"].pickled);
}

TEST(PayloadTable, NamesAnElementTypeThatItDoesNotKnow) {
  Json meta = tensorMeta({2});
  meta["dtype"] = 99;
  std::vector<Diagnostic> errors;
  Json text = {{"config", {{"w", entry("weight_0", meta)}}}};
  JsonDocument document("t.json", text.dump(), errors);
  readPayloadTable(document, "");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "'t.json' at config.w.tensor_meta.dtype: unknown element type");
}

} // namespace

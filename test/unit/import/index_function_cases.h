//===- index_function_cases.h - programs and PyTorch's results ------------===//
//
// The tensor %x [3, 4] has the elements of elementOfX.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_UNIT_IMPORT_INDEX_FUNCTION_CASES_H
#define MESHPLAN_TEST_UNIT_IMPORT_INDEX_FUNCTION_CASES_H

#include <cstdint>
#include <string>
#include <vector>

namespace meshplan {

struct IndexFunctionCase {
  std::string name;
  std::string body; ///< of a function of %x
  std::vector<int64_t> shape;
  std::vector<int64_t> elements;
};

inline int64_t elementOfX(int64_t row, int64_t column) { return (row * 4 + column) * 7 % 5 - 2; }

// clang-format off
inline const std::vector<IndexFunctionCase> indexFunctionCases = {
    {"arange from", R"(
    %0 = plan.call "aten.arange.start"() {start = 3 : i64, end = 8 : i64} : () -> tensor<5xi64>
    return %0 : tensor<5xi64>)",
     {5}, {3, 4, 5, 6, 7}},
    {"arange in steps", R"(
    %0 = plan.call "aten.arange.start_step"() {start = 10 : i64, end = -3 : i64, step = -4 : i64} : () -> tensor<4xi64>
    return %0 : tensor<4xi64>)",
     {4}, {10, 6, 2, -2}},
    {"arange of 32 bits", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64, dtype = i32} : () -> tensor<4xi32>
    return %0 : tensor<4xi32>)",
     {4}, {0, 1, 2, 3}},
    {"full", R"(
    %0 = plan.call "aten.full.default"() {size = [2 : i64, 3 : i64], fill_value = 7 : i64, dtype = i64} : () -> tensor<2x3xi64>
    return %0 : tensor<2x3xi64>)",
     {2, 3}, {7, 7, 7, 7, 7, 7}},
    {"full of truth", R"(
    %0 = plan.call "aten.full.default"() {size = [2 : i64], fill_value = true, dtype = i1} : () -> tensor<2xi1>
    return %0 : tensor<2xi1>)",
     {2}, {1, 1}},
    {"new_ones", R"(
    %0 = plan.call "aten.new_ones.default"(%x) {self = #base.operand<0>, size = [2 : i64], dtype = i1} : (tensor<3x4xi64>) -> tensor<2xi1>
    return %0 : tensor<2xi1>)",
     {2}, {1, 1}},
    {"zeros_like", R"(
    %0 = plan.call "aten.zeros_like.default"(%x) {self = #base.operand<0>} : (tensor<3x4xi64>) -> tensor<3x4xi64>
    return %0 : tensor<3x4xi64>)",
     {3, 4}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"scalar_tensor", R"(
    %0 = plan.call "aten.scalar_tensor.default"() {s = 4 : i64, dtype = i64} : () -> tensor<i64>
    return %0 : tensor<i64>)",
     {}, {4}},
    {"sum with alpha", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.add.Tensor"(%0) {self = #base.operand<0>, other = #base.operand<0>, alpha = -3 : i64} : (tensor<5xi64>) -> tensor<5xi64>
    return %1 : tensor<5xi64>)",
     {5}, {0, -2, -4, -6, -8}},
    {"difference of rows and columns", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
    %1 = plan.call "aten.arange.default"() {end = 3 : i64} : () -> tensor<3xi64>
    %2 = plan.call "aten.unsqueeze.default"(%1) {self = #base.operand<0>, dim = 1 : i64} : (tensor<3xi64>) -> tensor<3x1xi64>
    %3 = plan.call "aten.sub.Tensor"(%2, %0) {self = #base.operand<0>, other = #base.operand<1>, alpha = 2 : i64} : (tensor<3x1xi64>, tensor<4xi64>) -> tensor<3x4xi64>
    return %3 : tensor<3x4xi64>)",
     {3, 4}, {0, -2, -4, -6, 1, -1, -3, -5, 2, 0, -2, -4}},
    {"reversed difference", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.rsub.Scalar"(%0) {self = #base.operand<0>, other = 2 : i64, alpha = 3 : i64} : (tensor<5xi64>) -> tensor<5xi64>
    return %1 : tensor<5xi64>)",
     {5}, {2, -1, -4, -7, -10}},
    {"sum of booleans", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 2 : i64} : (tensor<5xi64>) -> tensor<5xi1>
    %2 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 1 : i64} : (tensor<5xi64>) -> tensor<5xi1>
    %4 = plan.call "aten.add.Tensor"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
    return %4 : tensor<5xi1>)",
     {5}, {1, 0, 0, 1, 1}},
    {"boolean and integer", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 2 : i64} : (tensor<5xi64>) -> tensor<5xi1>
    %2 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %3 = plan.call "aten.add.Tensor"(%1, %2) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<5xi1>, tensor<5xi64>) -> tensor<5xi64>
    return %3 : tensor<5xi64>)",
     {5}, {0, 1, 2, 4, 5}},
    {"products", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.mul.Tensor"(%0) {self = #base.operand<0>, other = -3 : i64} : (tensor<5xi64>) -> tensor<5xi64>
    %2 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} : (tensor<5xi64>) -> tensor<5xi64>
    return %2 : tensor<5xi64>)",
     {5}, {0, 3, 6, 9, 12}},
    {"product of booleans", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<5xi64>) -> tensor<5xi1>
    %2 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<5xi64>) -> tensor<5xi1>
    %4 = plan.call "aten.mul.Tensor"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
    return %4 : tensor<5xi1>)",
     {5}, {0, 0, 1, 1, 0}},
    {"floor_divide", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.sub.Tensor"(%0) {self = #base.operand<0>, other = 3 : i64} : (tensor<5xi64>) -> tensor<5xi64>
    %2 = plan.call "aten.scalar_tensor.default"() {s = 2 : i64, dtype = i64} : () -> tensor<i64>
    %3 = plan.call "aten.floor_divide.default"(%1, %2) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<5xi64>, tensor<i64>) -> tensor<5xi64>
    return %3 : tensor<5xi64>)",
     {5}, {-2, -1, -1, 0, 0}},
    {"div with mode", R"(
    %0 = plan.call "aten.arange.default"() {end = 7 : i64} : () -> tensor<7xi64>
    %1 = plan.call "aten.sub.Tensor"(%0) {self = #base.operand<0>, other = 3 : i64} : (tensor<7xi64>) -> tensor<7xi64>
    %2 = plan.call "aten.full.default"() {size = [], fill_value = 3 : i64, dtype = i64} : () -> tensor<i64>
    %3 = plan.call "aten.div.Tensor_mode"(%1, %2) {self = #base.operand<0>, other = #base.operand<1>, rounding_mode = "floor"} : (tensor<7xi64>, tensor<i64>) -> tensor<7xi64>
    return %3 : tensor<7xi64>)",
     {7}, {-1, -1, -1, 0, 0, 0, 1}},
    {"remainder", R"(
    %0 = plan.call "aten.arange.default"() {end = 7 : i64} : () -> tensor<7xi64>
    %1 = plan.call "aten.sub.Tensor"(%0) {self = #base.operand<0>, other = 3 : i64} : (tensor<7xi64>) -> tensor<7xi64>
    %2 = plan.call "aten.remainder.Scalar"(%1) {self = #base.operand<0>, other = 3 : i64} : (tensor<7xi64>) -> tensor<7xi64>
    return %2 : tensor<7xi64>)",
     {7}, {0, 1, 2, 0, 1, 2, 0}},
    {"eq of a tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
    %1 = plan.call "aten.arange.default"() {end = 3 : i64} : () -> tensor<3xi64>
    %2 = plan.call "aten.unsqueeze.default"(%1) {self = #base.operand<0>, dim = 1 : i64} : (tensor<3xi64>) -> tensor<3x1xi64>
    %3 = plan.call "aten.eq.Tensor"(%0, %2) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xi64>, tensor<3x1xi64>) -> tensor<3x4xi1>
    return %3 : tensor<3x4xi1>)",
     {3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}},
    {"eq of a number", R"(
    %0 = plan.call "aten.eq.Scalar"(%x) {self = #base.operand<0>, other = 0 : i64} : (tensor<3x4xi64>) -> tensor<3x4xi1>
    return %0 : tensor<3x4xi1>)",
     {3, 4}, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}},
    {"ne of a tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
    %1 = plan.call "aten.arange.default"() {end = 3 : i64} : () -> tensor<3xi64>
    %2 = plan.call "aten.unsqueeze.default"(%1) {self = #base.operand<0>, dim = 1 : i64} : (tensor<3xi64>) -> tensor<3x1xi64>
    %3 = plan.call "aten.ne.Tensor"(%0, %2) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xi64>, tensor<3x1xi64>) -> tensor<3x4xi1>
    return %3 : tensor<3x4xi1>)",
     {3, 4}, {0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1}},
    {"ne of a number", R"(
    %0 = plan.call "aten.ne.Scalar"(%x) {self = #base.operand<0>, other = 0 : i64} : (tensor<3x4xi64>) -> tensor<3x4xi1>
    return %0 : tensor<3x4xi1>)",
     {3, 4}, {1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0}},
    {"lt of a tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
    %1 = plan.call "aten.arange.default"() {end = 3 : i64} : () -> tensor<3xi64>
    %2 = plan.call "aten.unsqueeze.default"(%1) {self = #base.operand<0>, dim = 1 : i64} : (tensor<3xi64>) -> tensor<3x1xi64>
    %3 = plan.call "aten.lt.Tensor"(%0, %2) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xi64>, tensor<3x1xi64>) -> tensor<3x4xi1>
    return %3 : tensor<3x4xi1>)",
     {3, 4}, {0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0}},
    {"lt of a number", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.lt.Scalar"(%0) {self = #base.operand<0>, other = 2 : i64} : (tensor<5xi64>) -> tensor<5xi1>
    return %1 : tensor<5xi1>)",
     {5}, {1, 1, 0, 0, 0}},
    {"le of a tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
    %1 = plan.call "aten.arange.default"() {end = 3 : i64} : () -> tensor<3xi64>
    %2 = plan.call "aten.unsqueeze.default"(%1) {self = #base.operand<0>, dim = 1 : i64} : (tensor<3xi64>) -> tensor<3x1xi64>
    %3 = plan.call "aten.le.Tensor"(%0, %2) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xi64>, tensor<3x1xi64>) -> tensor<3x4xi1>
    return %3 : tensor<3x4xi1>)",
     {3, 4}, {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0}},
    {"le of a number", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.le.Scalar"(%0) {self = #base.operand<0>, other = 2 : i64} : (tensor<5xi64>) -> tensor<5xi1>
    return %1 : tensor<5xi1>)",
     {5}, {1, 1, 1, 0, 0}},
    {"gt of a tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
    %1 = plan.call "aten.arange.default"() {end = 3 : i64} : () -> tensor<3xi64>
    %2 = plan.call "aten.unsqueeze.default"(%1) {self = #base.operand<0>, dim = 1 : i64} : (tensor<3xi64>) -> tensor<3x1xi64>
    %3 = plan.call "aten.gt.Tensor"(%0, %2) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xi64>, tensor<3x1xi64>) -> tensor<3x4xi1>
    return %3 : tensor<3x4xi1>)",
     {3, 4}, {0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1}},
    {"gt of a number", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 2 : i64} : (tensor<5xi64>) -> tensor<5xi1>
    return %1 : tensor<5xi1>)",
     {5}, {0, 0, 0, 1, 1}},
    {"ge of a tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
    %1 = plan.call "aten.arange.default"() {end = 3 : i64} : () -> tensor<3xi64>
    %2 = plan.call "aten.unsqueeze.default"(%1) {self = #base.operand<0>, dim = 1 : i64} : (tensor<3xi64>) -> tensor<3x1xi64>
    %3 = plan.call "aten.ge.Tensor"(%0, %2) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xi64>, tensor<3x1xi64>) -> tensor<3x4xi1>
    return %3 : tensor<3x4xi1>)",
     {3, 4}, {1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1}},
    {"ge of a number", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.ge.Scalar"(%0) {self = #base.operand<0>, other = 2 : i64} : (tensor<5xi64>) -> tensor<5xi1>
    return %1 : tensor<5xi1>)",
     {5}, {0, 0, 1, 1, 1}},
    {"__and__.Tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.__and__.Tensor"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    return %4 : tensor<6xi1>)",
     {6}, {0, 0, 1, 1, 0, 0}},
    {"bitwise_and.Tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.bitwise_and.Tensor"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    return %4 : tensor<6xi1>)",
     {6}, {0, 0, 1, 1, 0, 0}},
    {"logical_and.default", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.logical_and.default"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    return %4 : tensor<6xi1>)",
     {6}, {0, 0, 1, 1, 0, 0}},
    {"__or__.Tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.__or__.Tensor"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    return %4 : tensor<6xi1>)",
     {6}, {1, 1, 1, 1, 1, 1}},
    {"bitwise_or.Tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.bitwise_or.Tensor"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    return %4 : tensor<6xi1>)",
     {6}, {1, 1, 1, 1, 1, 1}},
    {"logical_or.default", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.logical_or.default"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    return %4 : tensor<6xi1>)",
     {6}, {1, 1, 1, 1, 1, 1}},
    {"bitwise_xor.Tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.bitwise_xor.Tensor"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    return %4 : tensor<6xi1>)",
     {6}, {1, 1, 0, 0, 1, 1}},
    {"logical_xor.default", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.logical_xor.default"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    return %4 : tensor<6xi1>)",
     {6}, {1, 1, 0, 0, 1, 1}},
    {"logic of integers", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
    %1 = plan.call "aten.logical_and.default"(%x, %0) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<3x4xi64>, tensor<4xi64>) -> tensor<3x4xi1>
    return %1 : tensor<3x4xi1>)",
     {3, 4}, {0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0}},
    {"logical_not of integers", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.logical_not.default"(%0) {self = #base.operand<0>} : (tensor<5xi64>) -> tensor<5xi1>
    return %1 : tensor<5xi1>)",
     {5}, {1, 0, 0, 0, 0}},
    {"bitwise_not", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.bitwise_not.default"(%1) {self = #base.operand<0>} : (tensor<6xi1>) -> tensor<6xi1>
    return %4 : tensor<6xi1>)",
     {6}, {1, 1, 0, 0, 0, 0}},
    {"where", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %5 = plan.call "aten.scalar_tensor.default"() {s = -1 : i64, dtype = i64} : () -> tensor<i64>
    %6 = plan.call "aten.where.self"(%1, %4, %5) {condition = #base.operand<0>, self = #base.operand<1>, other = #base.operand<2>} : (tensor<6xi1>, tensor<6xi64>, tensor<i64>) -> tensor<6xi64>
    return %6 : tensor<6xi64>)",
     {6}, {-1, -1, 2, 3, 4, 5}},
    {"where of numbers", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.where.Scalar"(%1) {condition = #base.operand<0>, self = 3 : i64, other = -1 : i64} : (tensor<6xi1>) -> tensor<6xi64>
    return %4 : tensor<6xi64>)",
     {6}, {-1, -1, 3, 3, 3, 3}},
    {"truth of numbers", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.le.Scalar"(%0) {self = #base.operand<0>, other = 2 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.where.Scalar"(%1) {condition = #base.operand<0>, self = 0.0 : f64, other = -3.0e38 : f64} : (tensor<6xi1>) -> tensor<6xf32>
    %3 = plan.call "aten.to.dtype"(%2) {self = #base.operand<0>, dtype = i1} : (tensor<6xf32>) -> tensor<6xi1>
    return %3 : tensor<6xi1>)",
     {6}, {0, 0, 0, 1, 1, 1}},
    {"where of a number and a tensor", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %5 = plan.call "aten.where.ScalarSelf"(%1, %4) {condition = #base.operand<0>, self = 3 : i64, other = #base.operand<1>} : (tensor<6xi1>, tensor<6xi64>) -> tensor<6xi64>
    return %5 : tensor<6xi64>)",
     {6}, {0, 1, 3, 3, 3, 3}},
    {"masked_fill", R"(
    %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %2 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 4 : i64} : (tensor<6xi64>) -> tensor<6xi1>
    %4 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
    %5 = plan.call "aten.masked_fill.Scalar"(%4, %3) {self = #base.operand<0>, mask = #base.operand<1>, value = 9 : i64} : (tensor<6xi64>, tensor<6xi1>) -> tensor<6xi64>
    return %5 : tensor<6xi64>)",
     {6}, {9, 9, 9, 9, 4, 5}},
    {"triu", R"(
    %0 = plan.call "aten.ones.default"() {size = [3 : i64, 4 : i64], dtype = i64} : () -> tensor<3x4xi64>
    %1 = plan.call "aten.triu.default"(%0) {self = #base.operand<0>, diagonal = 1 : i64} : (tensor<3x4xi64>) -> tensor<3x4xi64>
    return %1 : tensor<3x4xi64>)",
     {3, 4}, {0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1}},
    {"tril of a stack", R"(
    %0 = plan.call "aten.ones.default"() {size = [2 : i64, 3 : i64, 3 : i64], dtype = i1} : () -> tensor<2x3x3xi1>
    %1 = plan.call "aten.tril.default"(%0) {self = #base.operand<0>, diagonal = -1 : i64} : (tensor<2x3x3xi1>) -> tensor<2x3x3xi1>
    return %1 : tensor<2x3x3xi1>)",
     {2, 3, 3}, {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0}},
    {"to another type and back", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.to.dtype"(%0) {self = #base.operand<0>, dtype = i1} : (tensor<5xi64>) -> tensor<5xi1>
    %2 = plan.call "aten._to_copy.default"(%1) {self = #base.operand<0>, dtype = i32} : (tensor<5xi1>) -> tensor<5xi32>
    return %2 : tensor<5xi32>)",
     {5}, {0, 1, 1, 1, 1}},
    {"type_as", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.to.dtype"(%0) {self = #base.operand<0>, dtype = i32} : (tensor<5xi64>) -> tensor<5xi32>
    %2 = plan.call "aten.type_as.default"(%1, %x) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<5xi32>, tensor<3x4xi64>) -> tensor<5xi64>
    return %2 : tensor<5xi64>)",
     {5}, {0, 1, 2, 3, 4}},
    {"detach", R"(
    %0 = plan.call "aten.detach.default"(%x) {self = #base.operand<0>} : (tensor<3x4xi64>) -> tensor<3x4xi64>
    return %0 : tensor<3x4xi64>)",
     {3, 4}, {-2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0}},
    {"alias, clone, contiguous", R"(
    %0 = plan.call "aten.alias.default"(%x) {self = #base.operand<0>} : (tensor<3x4xi64>) -> tensor<3x4xi64>
    %1 = plan.call "aten.clone.default"(%0) {self = #base.operand<0>} : (tensor<3x4xi64>) -> tensor<3x4xi64>
    %2 = plan.call "aten.contiguous.default"(%1) {self = #base.operand<0>} : (tensor<3x4xi64>) -> tensor<3x4xi64>
    return %2 : tensor<3x4xi64>)",
     {3, 4}, {-2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0}},
    {"view", R"(
    %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [2 : i64, -1 : i64, 3 : i64]} : (tensor<3x4xi64>) -> tensor<2x2x3xi64>
    return %0 : tensor<2x2x3xi64>)",
     {2, 2, 3}, {-2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0}},
    {"flatten", R"(
    %0 = plan.call "aten.flatten.using_ints"(%x) {self = #base.operand<0>} : (tensor<3x4xi64>) -> tensor<12xi64>
    return %0 : tensor<12xi64>)",
     {12}, {-2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0}},
    {"squeeze and unsqueeze", R"(
    %0 = plan.call "aten.unsqueeze.default"(%x) {self = #base.operand<0>, dim = -1 : i64} : (tensor<3x4xi64>) -> tensor<3x4x1xi64>
    %1 = plan.call "aten.squeeze.dim"(%0) {self = #base.operand<0>, dim = 2 : i64} : (tensor<3x4x1xi64>) -> tensor<3x4xi64>
    return %1 : tensor<3x4xi64>)",
     {3, 4}, {-2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0}},
    {"expand", R"(
    %0 = plan.call "aten.unsqueeze.default"(%x) {self = #base.operand<0>, dim = 1 : i64} : (tensor<3x4xi64>) -> tensor<3x1x4xi64>
    %1 = plan.call "aten.expand.default"(%0) {self = #base.operand<0>, size = [3 : i64, 2 : i64, -1 : i64]} : (tensor<3x1x4xi64>) -> tensor<3x2x4xi64>
    return %1 : tensor<3x2x4xi64>)",
     {3, 2, 4}, {-2, 0, 2, -1, -2, 0, 2, -1, 1, -2, 0, 2, 1, -2, 0, 2, -1, 1, -2, 0, -1, 1, -2, 0}},
    {"repeat", R"(
    %0 = plan.call "aten.repeat.default"(%x) {self = #base.operand<0>, repeats = [2 : i64, 1 : i64, 2 : i64]} : (tensor<3x4xi64>) -> tensor<2x3x8xi64>
    return %0 : tensor<2x3x8xi64>)",
     {2, 3, 8}, {-2, 0, 2, -1, -2, 0, 2, -1, 1, -2, 0, 2, 1, -2, 0, 2, -1, 1, -2, 0, -1, 1, -2, 0, -2, 0, 2, -1, -2, 0, 2, -1, 1, -2, 0, 2, 1, -2, 0, 2, -1, 1, -2, 0, -1, 1, -2, 0}},
    {"repeat_interleave", R"(
    %0 = plan.call "aten.repeat_interleave.self_int"(%x) {self = #base.operand<0>, repeats = 2 : i64, dim = -1 : i64} : (tensor<3x4xi64>) -> tensor<3x8xi64>
    return %0 : tensor<3x8xi64>)",
     {3, 8}, {-2, -2, 0, 0, 2, 2, -1, -1, 1, 1, -2, -2, 0, 0, 2, 2, -1, -1, 1, 1, -2, -2, 0, 0}},
    {"slice", R"(
    %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = -1 : i64, start = -3 : i64, end = 4 : i64, step = 2 : i64} : (tensor<3x4xi64>) -> tensor<3x2xi64>
    return %0 : tensor<3x2xi64>)",
     {3, 2}, {0, -1, -2, 2, 1, 0}},
    {"slice beyond the end", R"(
    %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = 1 : i64, start = -9 : i64, end = 9223372036854775807 : i64} : (tensor<3x4xi64>) -> tensor<3x4xi64>
    return %0 : tensor<3x4xi64>)",
     {3, 4}, {-2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0}},
    {"select", R"(
    %0 = plan.call "aten.select.int"(%x) {self = #base.operand<0>, dim = 1 : i64, index = -1 : i64} : (tensor<3x4xi64>) -> tensor<3xi64>
    return %0 : tensor<3xi64>)",
     {3}, {-1, 2, 0}},
    {"permute", R"(
    %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [3 : i64, 2 : i64, 2 : i64]} : (tensor<3x4xi64>) -> tensor<3x2x2xi64>
    %1 = plan.call "aten.permute.default"(%0) {self = #base.operand<0>, dims = [2 : i64, 0 : i64, -2 : i64]} : (tensor<3x2x2xi64>) -> tensor<2x3x2xi64>
    return %1 : tensor<2x3x2xi64>)",
     {2, 3, 2}, {-2, 2, 1, 0, -1, -2, 0, -1, -2, 2, 1, 0}},
    {"transpose", R"(
    %0 = plan.call "aten.transpose.int"(%x) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = -1 : i64} : (tensor<3x4xi64>) -> tensor<4x3xi64>
    return %0 : tensor<4x3xi64>)",
     {4, 3}, {-2, 1, -1, 0, -2, 1, 2, 0, -2, -1, 2, 0}},
    {"t", R"(
    %0 = plan.call "aten.t.default"(%x) {self = #base.operand<0>} : (tensor<3x4xi64>) -> tensor<4x3xi64>
    return %0 : tensor<4x3xi64>)",
     {4, 3}, {-2, 1, -1, 0, -2, 1, 2, 0, -2, -1, 2, 0}},
    {"index by neighbours", R"(
    %0 = plan.call "aten.arange.default"() {end = 3 : i64} : () -> tensor<3xi64>
    %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [3 : i64, 1 : i64]} : (tensor<3xi64>) -> tensor<3x1xi64>
    %2 = plan.call "aten.full.default"() {size = [2 : i64], fill_value = 3 : i64, dtype = i64} : () -> tensor<2xi64>
    %3 = plan.call "aten.arange.default"() {end = 2 : i64} : () -> tensor<2xi64>
    %4 = plan.call "aten.sub.Tensor"(%2, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %5 = plan.call "aten.index.Tensor"(%x, %1, %4) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<3x4xi64>, tensor<3x1xi64>, tensor<2xi64>) -> tensor<3x2xi64>
    return %5 : tensor<3x2xi64>)",
     {3, 2}, {-1, 2, 2, 0, 0, -2}},
    {"index by dims apart", R"(
    %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [3 : i64, 2 : i64, 2 : i64]} : (tensor<3x4xi64>) -> tensor<3x2x2xi64>
    %1 = plan.call "aten.arange.default"() {end = 2 : i64} : () -> tensor<2xi64>
    %2 = plan.call "aten.rsub.Scalar"(%1) {self = #base.operand<0>, other = 1 : i64} : (tensor<2xi64>) -> tensor<2xi64>
    %3 = plan.call "aten.index.Tensor"(%0, %1, %2) {self = #base.operand<0>, indices = [#base.operand<1>, unit, #base.operand<2>]} : (tensor<3x2x2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xi64>
    return %3 : tensor<2x2xi64>)",
     {2, 2}, {0, -1, 1, 0}},
    {"index of a later dim", R"(
    %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [3 : i64, 2 : i64, 2 : i64]} : (tensor<3x4xi64>) -> tensor<3x2x2xi64>
    %1 = plan.call "aten.arange.default"() {end = 2 : i64} : () -> tensor<2xi64>
    %2 = plan.call "aten.view.default"(%1) {self = #base.operand<0>, size = [2 : i64, 1 : i64]} : (tensor<2xi64>) -> tensor<2x1xi64>
    %3 = plan.call "aten.index.Tensor"(%0, %2) {self = #base.operand<0>, indices = [unit, #base.operand<1>]} : (tensor<3x2x2xi64>, tensor<2x1xi64>) -> tensor<3x2x1x2xi64>
    return %3 : tensor<3x2x1x2xi64>)",
     {3, 2, 1, 2}, {-2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0}},
    {"index from the end", R"(
    %0 = plan.call "aten.arange.default"() {end = 2 : i64} : () -> tensor<2xi64>
    %1 = plan.call "aten.sub.Tensor"(%0) {self = #base.operand<0>, other = 3 : i64} : (tensor<2xi64>) -> tensor<2xi64>
    %2 = plan.call "aten.index.Tensor"(%x, %1) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<3x4xi64>, tensor<2xi64>) -> tensor<2x4xi64>
    return %2 : tensor<2x4xi64>)",
     {2, 4}, {-2, 0, 2, -1, 1, -2, 0, 2}},
    {"gather", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
    %1 = plan.call "aten.rsub.Scalar"(%0) {self = #base.operand<0>, other = 3 : i64} : (tensor<4xi64>) -> tensor<4xi64>
    %2 = plan.call "aten.expand.default"(%1) {self = #base.operand<0>, size = [2 : i64, 4 : i64]} : (tensor<4xi64>) -> tensor<2x4xi64>
    %3 = plan.call "aten.gather.default"(%x, %2) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>} : (tensor<3x4xi64>, tensor<2x4xi64>) -> tensor<2x4xi64>
    return %3 : tensor<2x4xi64>)",
     {2, 4}, {-1, 2, 0, -2, 2, 0, -2, 1}},
    {"cumsum", R"(
    %0 = plan.call "aten.ones.default"() {size = [2 : i64, 3 : i64], dtype = i1} : () -> tensor<2x3xi1>
    %1 = plan.call "aten.cumsum.default"(%0) {self = #base.operand<0>, dim = -1 : i64} : (tensor<2x3xi1>) -> tensor<2x3xi64>
    return %1 : tensor<2x3xi64>)",
     {2, 3}, {1, 2, 3, 1, 2, 3}},
    {"diff", R"(
    %0 = plan.call "aten.arange.default"() {end = 5 : i64} : () -> tensor<5xi64>
    %1 = plan.call "aten.mul.Tensor"(%0) {self = #base.operand<0>, other = 3 : i64} : (tensor<5xi64>) -> tensor<5xi64>
    %2 = plan.call "aten.diff.default"(%1) {self = #base.operand<0>} : (tensor<5xi64>) -> tensor<4xi64>
    return %2 : tensor<4xi64>)",
     {4}, {3, 3, 3, 3}},
    {"diff with both ends", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
    %1 = plan.call "aten.slice.Tensor"(%0) {self = #base.operand<0>, dim = 0 : i64, start = 0 : i64, end = 1 : i64} : (tensor<4xi64>) -> tensor<1xi64>
    %2 = plan.call "aten.sub.Tensor"(%1) {self = #base.operand<0>, other = 5 : i64} : (tensor<1xi64>) -> tensor<1xi64>
    %3 = plan.call "aten.full.default"() {size = [2 : i64], fill_value = 9 : i64, dtype = i64} : () -> tensor<2xi64>
    %4 = plan.call "aten.diff.default"(%0, %2, %3) {self = #base.operand<0>, n = 1 : i64, dim = 0 : i64, prepend = #base.operand<1>, append = #base.operand<2>} : (tensor<4xi64>, tensor<1xi64>, tensor<2xi64>) -> tensor<6xi64>
    return %4 : tensor<6xi64>)",
     {6}, {5, 1, 1, 1, 6, 0}},
    {"cat", R"(
    %0 = plan.call "aten.full.default"() {size = [1 : i64, 4 : i64], fill_value = 5 : i64, dtype = i64} : () -> tensor<1x4xi64>
    %1 = plan.call "aten.cat.default"(%x, %0) {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<0>], dim = 0 : i64} : (tensor<3x4xi64>, tensor<1x4xi64>) -> tensor<7x4xi64>
    return %1 : tensor<7x4xi64>)",
     {7, 4}, {-2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0, 5, 5, 5, 5, -2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0}},
};
// clang-format on

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_IMPORT_INDEX_FUNCTION_CASES_H

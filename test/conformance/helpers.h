//===- helpers.h - typed buffers and short forms ----------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_CONFORMANCE_HELPERS_H
#define MESHPLAN_TEST_CONFORMANCE_HELPERS_H

#include "test/conformance/run_world.h"

#include <gmock/gmock.h>

namespace meshplan {

inline constexpr std::chrono::milliseconds longTimeout = std::chrono::seconds(60);
inline constexpr std::chrono::milliseconds shortTimeout = std::chrono::milliseconds(200);

inline constexpr DType allDTypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64,
                                      DType::i32, DType::i16, DType::i8,  DType::u8,   DType::boolean};

/// Bytes of `values` as `dtype`. The suite uses small integers, exact in every dtype.
std::vector<std::byte> encode(std::span<const double> values, DType dtype);
std::vector<double> decode(std::span<const std::byte> bytes, DType dtype);

/// Element `i` of rank `rank` in the tests: small, and different between ranks.
inline double elementOf(int64_t rank, int64_t i) { return static_cast<double>((rank * 5 + i * 3) % 7); }
std::vector<double> elementsOf(int64_t rank, int64_t count, int64_t first = 0);

/// Why the backend does not support the reduction; empty if it does.
std::string omittedReduction(DType dtype, Reduction reduction);

/// The group of all ranks.
Expected<std::unique_ptr<Group>> worldGroup(World &world, std::string name = "all");

/// Starts a collective and waits for it.
Status finish(Expected<Pending> pending);

/// Runs the body and expects success on every rank.
void expectOk(int64_t size, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_TEST_CONFORMANCE_HELPERS_H

//===- initial_feed.h - weights of a training that has none ------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_INITIAL_INITIAL_FEED_H
#define MESHPLAN_RUNTIME_EXEC_INITIAL_INITIAL_FEED_H

#include "runtime/exec/feed.h"
#include "runtime/exec/initial/distribution.h"

#include <map>
#include <variant>

namespace meshplan {

/// The first names of the parameters and buffers of a program that have no values without weights: with any, a training
/// needs weights.
std::vector<std::string> parametersWithoutInit(const artifact::Program &program);

/// Twin of torch.nn.init under a seed: parameters as the plan's `init` draws them, and buffers as they were exported.
/// An element that is drawn depends on the seed, the first name of its parameter and its place in the global tensor
/// only, so that every layout begins with the same weights, and tied parameters are one. Numbers are made in f64,
/// rounded to f32 and then to the dtype that is asked for, so that a parameter is its master rounded; f64 gets them as
/// they are made.
class InitialFeed final : public Feed {
public:
  /// `invalid`, with their names, where the program has parameters without `init`. The artifact of the program outlives
  /// the feed.
  static Expected<InitialFeed> create(const artifact::Program &program, uint64_t seed);

  /// `notFound` for what is no parameter of the program.
  Status read(const FeedRequest &request, std::span<std::byte> out) const override;

private:
  /// The elements of a buffer, those of the whole tensor.
  struct Given {
    DType dtype;
    std::span<const std::byte> bytes;
  };
  using Values = std::variant<ElementDraws, Given>;

  InitialFeed() = default;
  static Status readGiven(const Given &given, const FeedRequest &request, std::span<std::byte> out);
  static Values valuesOf(const artifact::Init &init, uint64_t seed, std::string_view name);

  std::map<std::string, Values, std::less<>> values; // by every name of a parameter
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_INITIAL_INITIAL_FEED_H

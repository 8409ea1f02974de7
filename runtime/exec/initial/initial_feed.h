//===- initial_feed.h - initial weights -------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_INITIAL_INITIAL_FEED_H
#define MESHPLAN_RUNTIME_EXEC_INITIAL_INITIAL_FEED_H

#include "runtime/exec/feed.h"
#include "runtime/exec/initial/distribution.h"

#include <map>
#include <variant>

namespace meshplan {

/// First names of the parameters and buffers without initial values. If there are any, training needs weights.
std::vector<std::string> parametersWithoutInit(const artifact::Program &program);

/// Initial weights, with the distributions of torch.nn.init and a seed: parameters as the plan's `init` says, buffers
/// as exported. A random element depends only on the seed, the first name of its parameter and its position in the
/// global tensor. So every sharding begins with the same weights, and tied parameters are equal. The parameters of a
/// list of modules are drawn for each module, as where a plan has not made one of them. Elements are computed in f64,
/// rounded to f32 and then to the requested dtype, so that a parameter equals its rounded master weight; f64 parameters
/// are not rounded.
class InitialFeed final : public Feed {
public:
  /// `invalid`, with their names, if the program has parameters without `init`. The artifact of the program must
  /// outlive the feed.
  static Expected<InitialFeed> create(const artifact::Program &program, uint64_t seed);

  /// `notFound` if it is not a parameter of the program.
  Status read(const FeedRequest &request, std::span<std::byte> out) const override;

private:
  /// The elements of a buffer: the whole tensor.
  struct Given {
    DType dtype;
    std::span<const std::byte> bytes;
  };
  /// Of equal shares of a tensor, one after the other.
  using Draws = std::vector<ElementDraws>;
  using Values = std::variant<Draws, Given>;

  InitialFeed() = default;
  static Status readGiven(const Given &given, const FeedRequest &request, std::span<std::byte> out);
  static Status readDrawn(const Draws &draws, const FeedRequest &request, std::span<std::byte> out);
  static Values valuesOf(const artifact::Program &program, const artifact::Parameter &parameter, uint64_t seed);

  std::map<std::string, Values, std::less<>> values; // by each name of a parameter
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_INITIAL_INITIAL_FEED_H

//===- sample_source.cpp - concatenated data sets -------------------------===//

#include "runtime/dataset/sample_source.h"

#include <algorithm>
#include <cassert>

namespace meshplan {

namespace {

class ConcatenatedSamples final : public SampleSource {
public:
  explicit ConcatenatedSamples(std::vector<SampleSourcePointer> given) : sources(std::move(given)) {
    for (const SampleSourcePointer &source : sources)
      ends.push_back(samples() + source->samples());
  }

  int64_t samples() const override { return ends.empty() ? 0 : ends.back(); }

  Status read(int64_t sample, size_t field, const SliceRanges &ranges, std::span<std::byte> out) const override {
    auto [source, own] = find(sample);
    return source->read(own, field, ranges, out);
  }

  void announce(int64_t sample, size_t field, const SliceRanges &ranges) const override {
    auto [source, own] = find(sample);
    source->announce(own, field, ranges);
  }

  std::vector<std::string> description() const override {
    std::vector<std::string> lines;
    for (const SampleSourcePointer &source : sources)
      std::ranges::move(source->description(), std::back_inserter(lines));
    return lines;
  }

private:
  /// The source of a sample, and the sample's number in that source.
  std::pair<const SampleSource *, int64_t> find(int64_t sample) const {
    assert(sample >= 0 && sample < samples() && "there must be such a sample");
    // The first end above the number: an empty source ends where the one before it does, and is never chosen.
    size_t index = std::ranges::upper_bound(ends, sample) - ends.begin();
    return {sources[index].get(), sample - (index ? ends[index - 1] : 0)};
  }

  std::vector<SampleSourcePointer> sources;
  std::vector<int64_t> ends; // number of samples up to the end of each source
};

} // namespace

SampleSourcePointer concatenated(std::vector<SampleSourcePointer> sources) {
  assert(!sources.empty() && "there must be a source");
  if (sources.size() == 1)
    return std::move(sources.front());
  return std::make_unique<ConcatenatedSamples>(std::move(sources));
}

} // namespace meshplan

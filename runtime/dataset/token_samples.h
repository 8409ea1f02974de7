//===- token_samples.h - samples of a token stream --------------*- C++ -*-===//
//
// Cuts samples from a stream of tokens. Two formats: data sets of Megatron-Core (PREFIX.bin and PREFIX.idx), and token
// files of nanoGPT (a .bin of u16 without header).
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATASET_TOKEN_SAMPLES_H
#define MESHPLAN_RUNTIME_DATASET_TOKEN_SAMPLES_H

#include "runtime/dataset/sample_source.h"

#include <map>
#include <optional>

namespace meshplan {

/// Which tokens an input takes. Models that shift labels themselves, as those of Hugging Face do, take the input tokens
/// as labels. Other models take the following token as the label of each token.
enum class TokenOffset : uint8_t {
  same, ///< the tokens of the sample
  next, ///< the tokens one position later
};

/// The user's choice, by input. Without a choice, an input takes `same` if this is certain: it is the program's only
/// input, or is named `input_ids`.
using TokenOffsets = std::map<std::string, TokenOffset, std::less<>>;

/// Parses "NAME=same" or "NAME=next", one per input; else `invalid`.
Expected<TokenOffsets> parseTokenOffsets(std::span<const std::string> words);

/// The token files that a path means.
struct TokenFiles {
  std::string tokens;
  std::string index; ///< empty for nanoGPT
};

/// Megatron: PREFIX, PREFIX.bin or PREFIX.idx if PREFIX.idx exists. nanoGPT: any other file named *.bin. Else nullopt.
std::optional<TokenFiles> findTokenFiles(const std::string &path);

/// Cuts the stream into samples of n tokens, where n is the length of the fields. Sample i of a `same` field has the
/// tokens [i n, i n + n) of the stream; of a `next` field, those one position later. An incomplete sample at the end is
/// not used. Samples cross document boundaries, as in Megatron's GPTDataset, and keep the order of the file.
///
/// Errors, with the path: fields that are not integers of shape [n], differ in n, do not hold the token type, or need a
/// choice in `offsets`; an index that does not match its file; a file of llm.c.
Expected<SampleSourcePointer> openTokenSamples(const TokenFiles &files, std::span<const SampleField> fields,
                                               const TokenOffsets &offsets);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_TOKEN_SAMPLES_H

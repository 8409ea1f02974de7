"""Why the compiler may refuse a random case. Any other message is a failure."""

from __future__ import annotations

import re

# Patterns of messages, and what such a case asks for that is not given.
REFUSALS = {
    r"reads dim .* as parts of .*, but it is split over .* as (a whole|parts)": "takes a dim apart across its division",
    r"has \d+ parts, which .* reads one by one, but it is split over": "takes a dim apart across its division",
    r"is split over .* part by part, but .* addresses its elements by their position": "elements of parts are numbered",
    r"splits dim \d+ of size \d+ into \d+ shards, which leaves ranks without elements": "more ranks than elements",
    r"has size \d+, fewer than": "more ranks than elements",
    r"(groups|parts) of .*, fewer than": "more ranks than groups",
    r"(groups|parts) of .*, but is split over .* in parts of .*, which do not match them": "parts that cut groups",
    r"groups of .*, and sharding over .* would split one": "shards cut a group",
    r"heads of .*, but is split over .* in parts of .*, which do not match them": "parts that cut heads",
    r"heads of .*, fewer than": "more ranks than heads",
    r"heads of .*, and sharding over .* would split one": "shards cut a head",
    r"is inside a head, and sharding it over .* would split the head": "shards cut a head",
    r"rows of tokens between the experts' layers would have to move between ranks": "rows of experts would move",
    r"of which these ranks hold different experts": "a data block that names experts that it does not have",
    r"' routes nothing: |' has no features inside experts: ": "a mixture in a form that is not known",
    r"is not implemented yet": "a statement that is not implemented",
    r"microbatches cannot be concatenated": "samples of several microbatches are mixed",
    r"its microbatches are split over ranks": "microbatches are split over ranks",
    r"has no record, and would read samples of several microbatches": "samples of several microbatches are mixed",
    r"applies to a classification loss, but output": "another loss than one of classes is redefined",
    r"'contiguous (parameters|gradients)' without '(shard|bucket)'": "contiguous tensors that are not coalesced",
    r"'contiguous .*' and 'bucket none' contradict": "contiguous tensors that are not coalesced",
    r"'contiguous parameters' of .*, which is stored as": "contiguous parameters are converted for each gather",
    r"none of the \d+ parameters of the block is trained": "a data block of what is not trained",
    r"unit '.*' names no parameter that is gathered or reduced": "a data block of what is not trained",
    r"'offload parameters' without 'shard parameters'": "parameters on the host stay whole",
    r"'offload optimizer' has no effect": "an optimizer on the host keeps nothing",
    r"'offload' and 'contiguous' contradict": "what lies on the host is contiguous",
    r"cannot be (colwise|rowwise|sequence) ": "a style for which the module has no features",
}


def reason_of(text: str) -> str:
    """The reason for the first error of the compiler; empty if it is not an expected one."""
    found = re.search(r"error: (.*)", text)
    message = found.group(1) if found else ""
    return next((reason for pattern, reason in REFUSALS.items() if re.search(pattern, message)), "")

#!/usr/bin/env python3
"""Checks which room of the tree includes and links which other room.

A room is a folder with a purpose; ROOMS lists what each may use. Sources are read as text, so the check needs no build.
Usage: check_layers.py [ROOT]. Prints `file:line: error: ...` for each violation; exit status 1 if there is one.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# The extent function and the coordinates that it is a function of: the part of the schema that is not the artifact
# format.
EXTENT = "runtime/schema/extent.h"
MESH_AXES = "runtime/schema/mesh_axes.h"
# What collectives copy, which both sides decide by the same functions.
OVERLAP = "runtime/schema/overlap.h"
PACKING = "runtime/schema/packing.h"
# Which schedules of a learning rate exist: the language, the dialects and the loader of the artifact agree on it.
RATE_SCHEDULE = "runtime/schema/rate_schedule.h"
# Which distributions of initial elements exist: as RATE_SCHEDULE, and the passes that make them.
DISTRIBUTION = "runtime/schema/distribution.h"
# The keys of cluster files, which the runtime writes and the compiler reads.
CLUSTER_KEYS = "runtime/schema/cluster_keys.h"
# The form of traces, which both sides write.
TRACE_FORM = "runtime/schema/trace_form.h"
# Which loss scales exist.
LOSS_SCALE = "runtime/schema/loss_scale.h"
# How many rows a rank stores of what is routed to experts, and which numbers plans may state about them.
ROUTED = "runtime/schema/routed.h"
# Sizes of temporaries of kernels, which the compiler plans.
KERNEL_BLOCKS = "runtime/schema/kernel_blocks.h"
# In which tensors of a weight file a parameter is: the language, the dialects, the loader of the artifact and the
# reader of weights agree on it.
WEIGHT_PIECES = "runtime/schema/weight_pieces.h"
# Which of these are the parameters of a list of modules: the language and the runtime agree on it.
STACKED_MODULES = "runtime/schema/stacked_modules.h"
# Names that the compiler gives and the runtime looks for.
PROGRAM_NAMES = "runtime/schema/program_names.h"
# Rooms that a room above these, one that runs programs or compares them, may use, too.
BELOW_EXEC = {
    "runtime/artifact",
    "runtime/comm",
    "runtime/data",
    "runtime/tensor",
    "runtime/base",
    "runtime/schema",
    EXTENT,
    OVERLAP,
    PACKING,
    PROGRAM_NAMES,
    LOSS_SCALE,
}

# room -> (rooms it may use besides itself, foreign libraries it may use). `x/*` stands for each folder in x; these may
# not use each other. The longest matching room applies.
ROOMS: dict[str, tuple[set[str], set[str]]] = {
    "runtime/schema": (set(), {"flatbuffers", "xxhash"}),
    EXTENT: ({MESH_AXES}, set()),
    OVERLAP: ({EXTENT}, set()),
    PACKING: ({OVERLAP}, set()),
    MESH_AXES: (set(), set()),
    RATE_SCHEDULE: (set(), set()),
    DISTRIBUTION: (set(), set()),
    CLUSTER_KEYS: (set(), set()),
    TRACE_FORM: (set(), set()),
    PROGRAM_NAMES: (set(), set()),
    LOSS_SCALE: (set(), set()),
    ROUTED: (set(), set()),
    KERNEL_BLOCKS: (set(), set()),
    WEIGHT_PIECES: (set(), set()),
    STACKED_MODULES: ({WEIGHT_PIECES}, set()),
    "runtime/base": ({EXTENT}, {"fmt", "xxhash"}),
    "runtime/artifact": (
        {"runtime/base", "runtime/schema", DISTRIBUTION, EXTENT, LOSS_SCALE, RATE_SCHEDULE, ROUTED, WEIGHT_PIECES},
        {"flatbuffers"},
    ),
    "runtime/data": ({"runtime/base", EXTENT, STACKED_MODULES, WEIGHT_PIECES}, {"json", "zip", "zlib", "isal"}),
    "runtime/comm": ({"runtime/base", EXTENT}, set()),
    "runtime/comm/threads": ({"runtime/base", "runtime/comm"}, set()),
    "runtime/comm/mpi": ({"runtime/base", "runtime/comm"}, {"mpi"}),
    "runtime/comm/store": ({"runtime/base", "runtime/comm"}, set()),
    "runtime/comm/nccl": ({"runtime/base", "runtime/comm"}, {"nccl", "cuda"}),
    "runtime/launch": ({"runtime/base"}, set()),
    "runtime/tensor": ({"runtime/base", "runtime/schema", EXTENT, KERNEL_BLOCKS}, {"torch", "cuda", "json"}),
    "runtime/calibrate": (
        {"runtime/base", "runtime/comm", "runtime/tensor", "runtime/schema", CLUSTER_KEYS},
        {"json"},
    ),
    "runtime/rendezvous": ({"runtime/base", "runtime/comm", "runtime/comm/store", "runtime/tensor"}, {"torch"}),
    "runtime/exec": (BELOW_EXEC | {STACKED_MODULES, TRACE_FORM, WEIGHT_PIECES}, {"flatbuffers", "json"}),
    "runtime/dataset": (BELOW_EXEC | {"runtime/exec"}, {"flatbuffers"}),
    "runtime/checkpoint": (BELOW_EXEC | {"runtime/exec", WEIGHT_PIECES}, {"flatbuffers", "json"}),
    "runtime/verify": (BELOW_EXEC | {"runtime/exec"}, {"flatbuffers"}),
    "runtime/train": (
        BELOW_EXEC | {"runtime/checkpoint", "runtime/dataset", "runtime/exec"},
        {"flatbuffers", "json", "protozero"},
    ),
    "grammar": (set(), {"antlr"}),
    "dialect/base": ({DISTRIBUTION, EXTENT, LOSS_SCALE, RATE_SCHEDULE, ROUTED, WEIGHT_PIECES}, {"mlir", "llvm"}),
    "dialect/plan": ({"dialect/base", EXTENT, PROGRAM_NAMES}, {"mlir", "llvm"}),
    "dialect/sched": ({"dialect/base", EXTENT}, {"mlir", "llvm"}),
    "compiler/support": ({EXTENT}, {"llvm"}),
    "compiler/frontend": (
        {
            "grammar",
            "compiler/support",
            DISTRIBUTION,
            LOSS_SCALE,
            MESH_AXES,
            PROGRAM_NAMES,
            RATE_SCHEDULE,
            ROUTED,
            STACKED_MODULES,
            WEIGHT_PIECES,
        },
        {"antlr", "llvm"},
    ),
    "compiler/adopt": ({"compiler/frontend", "compiler/support"}, {"llvm"}),
    "compiler/archive": ({"compiler/support"}, {"llvm", "zip", "json"}),
    "compiler/indexing": (set(), {"llvm"}),
    "compiler/sharding": ({"dialect/plan", "compiler/support", EXTENT, KERNEL_BLOCKS}, {"mlir", "llvm"}),
    "compiler/derivatives": ({"compiler/sharding", "dialect/plan"}, {"mlir", "llvm"}),
    "compiler/compositions": ({"compiler/derivatives", "compiler/sharding", "dialect/plan", EXTENT}, {"mlir", "llvm"}),
    "compiler/cluster": ({"compiler/support", CLUSTER_KEYS, EXTENT}, {"llvm", "json"}),
    "compiler/scheduling": ({"compiler/cluster", "compiler/support", "runtime/schema", EXTENT}, {"llvm"}),
    "compiler/timing": (
        {"compiler/cluster", "compiler/frontend", "compiler/scheduling", "compiler/support", TRACE_FORM},
        {"llvm"},
    ),
    "compiler/transforms/*": (
        {
            "compiler/timing",
            "compiler/indexing",
            "compiler/compositions",
            "compiler/derivatives",
            "compiler/sharding",
            "compiler/cluster",
            "compiler/scheduling",
            "compiler/frontend",
            "compiler/archive",
            "compiler/support",
            "dialect/plan",
            "dialect/sched",
            DISTRIBUTION,
            EXTENT,
            KERNEL_BLOCKS,
            PACKING,
            PROGRAM_NAMES,
        },
        {"mlir", "llvm"},
    ),
    "compiler/target/*": (
        {"dialect/sched", "compiler/support", "runtime/schema", EXTENT},
        {"mlir", "llvm", "flatbuffers"},
    ),
    "compiler/report": (
        {
            "dialect/sched",
            "compiler/cluster",
            "compiler/sharding",
            "compiler/support",
            "compiler/timing",
            EXTENT,
        },
        {"mlir", "llvm"},
    ),
    "compiler/report/diff": ({"compiler/report", "compiler/support"}, {"llvm"}),
    "compiler/report/settings": ({"compiler/report", "compiler/frontend", "compiler/support"}, {"llvm"}),
    "compiler/report/explain": (
        {"compiler/report", "compiler/sharding", "compiler/support", "dialect/plan", "dialect/sched", EXTENT},
        {"mlir", "llvm"},
    ),
    "compiler/pipeline": (
        {
            "compiler/transforms/*",
            "compiler/target/*",
            "compiler/frontend",
            "compiler/archive",
            "compiler/sharding",
            "compiler/cluster",
            "compiler/scheduling",
            "compiler/support",
            "compiler/timing",
            "dialect/plan",
            "dialect/sched",
        },
        {"mlir", "llvm"},
    ),
    "compiler/draft": (
        {
            "compiler/adopt",
            "compiler/pipeline",
            "compiler/transforms/*",
            "compiler/frontend",
            "compiler/archive",
            "compiler/sharding",
            "compiler/support",
            "dialect/plan",
            EXTENT,
        },
        {"mlir", "llvm"},
    ),
}

# Programs and tests may use every room, but a program uses either the compiler or the runtime.
PROGRAMS = "tools"
COMPILER_SIDE = ("compiler/", "dialect/", "grammar/")
RUNTIME_SIDE = "runtime/"
SHARED = "runtime/schema/"

# library -> (its headers, its CMake targets)
LIBRARIES: dict[str, tuple[re.Pattern[str], re.Pattern[str]]] = {
    name: (re.compile(headers), re.compile(targets))
    for name, headers, targets in [
        ("mlir", r"mlir/", r"MLIR"),
        ("llvm", r"llvm(-c)?/", r"LLVM"),
        ("antlr", r"antlr4-runtime", r"\$\{ANTLR4_LIBRARY\}|antlr4"),
        ("torch", r"(torch|ATen|c10|caffe2)/", r"meshplan-torch$|torch|c10"),
        ("nccl", r"nccl\.h", r"nccl"),
        ("cuda", r"cuda|cublas|cudnn|cupti", r"CUDA::|cudart"),
        ("mpi", r"mpi\.h", r"MPI::|mpi-headers"),
        ("flatbuffers", r"flatbuffers/", r"flatbuffers::"),
        ("zip", r"zip\.h", r"PkgConfig::LIBZIP"),
        ("xxhash", r"xxhash\.h", r"xxhash"),
        ("zlib", r"zlib\.h", r"zlib|ZLIB::"),
        ("isal", r"isa-l", r"isal"),
        ("cli11", r"CLI/", r"CLI11::"),
        ("fmt", r"fmt/", r"fmt::"),
        ("protozero", r"protozero/", r"protozero"),
        ("json", r"nlohmann/", r"nlohmann_json::"),
        ("gtest", r"g(test|mock)/", r"GTest::"),
        ("benchmark", r"benchmark/", r"benchmark::"),
    ]
}

TOP_FOLDERS = ("dialect", "compiler", "runtime", "grammar", "tools", "examples")
SOURCE_SUFFIXES = {".h", ".cpp", ".c", ".cu", ".inc", ".td"}
INCLUDE = re.compile(r'^\s*#?\s*include\s*(["<])([^">]+)[">]')
LIBRARY_CALL = re.compile(
    r"^\s*(?:meshplan_library|meshplan_program|meshplan_test|add_library|target_link_libraries)\s*\(", re.M
)


@dataclass(frozen=True)
class Use:
    """One include line or CMake dependency."""

    path: str
    line: int
    target: str  # the header, or the CMake target
    quoted: bool = True


def room_of(path: str) -> str | None:
    """The longest room that contains `path`, with `*` replaced by the folder; None outside all rooms."""
    best = None
    for room in ROOMS:
        pattern = re.escape(room).replace(r"\*", "[^/]+(?=/)")
        found = re.match(rf"{pattern}(?=/|$)", path)
        if found and (best is None or len(found[0]) > len(best)):
            best = found[0]
    return best


def rule_of(room: str) -> tuple[set[str], set[str]]:
    if room in ROOMS:
        return ROOMS[room]
    return ROOMS[room.rsplit("/", 1)[0] + "/*"]


def may_use(user: str, used: str) -> bool:
    rooms, _ = rule_of(user)
    return used == user or used in rooms or (used not in ROOMS and used.rsplit("/", 1)[0] + "/*" in rooms)


def library_of(name: str, kind: int) -> str | None:
    """The foreign library that a header (kind 0) or a CMake target (kind 1) belongs to."""
    return next((library for library, patterns in LIBRARIES.items() if patterns[kind].match(name)), None)


def source_files(root: Path) -> Iterator[Path]:
    for top in TOP_FOLDERS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES or path.name == "CMakeLists.txt":
                yield path


def includes(path: str, text: str) -> Iterator[Use]:
    for number, line in enumerate(text.splitlines(), 1):
        if found := INCLUDE.match(line):
            yield Use(path, number, found[2], found[1] == '"')


def check_include(use: Use, user: str) -> str | None:
    """The error of an include line of a file in room `user`, or None."""
    if library := library_of(use.target, 0):
        return None if library in rule_of(user)[1] else f"{user} must not include {library} ('{use.target}')"
    if not use.quoted:
        return None
    used = room_of(use.target)
    if used is None:
        return f"'{use.target}' is not in a room; include paths start at the top of the tree"
    return None if may_use(user, used) else f"{user} must not include {used} ('{use.target}')"


def check_program(uses: list[Use]) -> Iterator[tuple[Use, str]]:
    """Reports a program that includes both compiler and runtime at its first include of the runtime."""
    compiler = next((use for use in uses if use.target.startswith(COMPILER_SIDE)), None)
    runtime = next((use for use in uses if use.target.startswith(RUNTIME_SIDE) and SHARED not in use.target), None)
    if compiler and runtime:
        yield runtime, f"a program uses either the compiler or the runtime: '{runtime.target}' and '{compiler.target}'"


def cmake_calls(path: str, text: str) -> Iterator[tuple[str, list[Use]]]:
    """(library, its dependencies) for each library that a CMakeLists.txt defines."""
    for call in LIBRARY_CALL.finditer(text):
        body = re.sub(r"#[^\n]*", "", text[call.end() : text.index(")", call.end())])
        words = [(found[0], call.end() + found.start()) for found in re.finditer(r"[^\s()]+", body)]
        names = [word for word, _ in words]
        name = names[names.index("NAME") + 1] if "NAME" in names else names[0]
        start = names.index("DEPS") + 1 if "DEPS" in names else (1 if "link" in call[0] else len(names))
        yield name, [Use(path, text.count("\n", 0, position) + 1, word) for word, position in words[start:]]


def check_link(use: Use, user: str, defined: dict[str, str]) -> str | None:
    if used := defined.get(use.target):
        # The extent function is linked with the rest of the schema; its includes are checked separately.
        if used == "runtime/schema" and EXTENT in rule_of(user)[0]:
            return None
        return None if may_use(user, used) else f"{user} must not link {used} ('{use.target}')"
    library = library_of(use.target, 1)
    if library and library not in rule_of(user)[1]:
        return f"{user} must not link {library} ('{use.target}')"
    return None


def check(root: Path) -> list[str]:
    """All violations under `root`, as lines `file:line: error: message`."""
    breaches: list[tuple[Use, str]] = []
    defined: dict[str, str] = {}
    links: list[tuple[str, Use]] = []
    for file in source_files(root):
        path = file.relative_to(root).as_posix()
        room = room_of(path)
        text = file.read_text()
        if file.name == "CMakeLists.txt":
            if room:
                for name, uses in cmake_calls(path, text):
                    defined.setdefault(name, room)
                    links += [(room, use) for use in uses]
        elif path.split("/")[0] == PROGRAMS:
            breaches += check_program(list(includes(path, text)))
        elif room is None:
            breaches.append((Use(path, 1, ""), "the file lies in no room of tools/check_layers.py"))
        else:
            breaches += [(use, error) for use in includes(path, text) if (error := check_include(use, room))]
    breaches += [(use, error) for room, use in links if (error := check_link(use, room, defined))]
    return [f"{use.path}:{use.line}: error: {error}" for use, error in breaches]


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    errors = check(root)
    if errors:
        print(*errors, "help: what each room may use is the table ROOMS in tools/check_layers.py", sep="\n")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())

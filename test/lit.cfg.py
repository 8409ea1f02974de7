# Configuration of the lit tests. Substitutions:
#
#   %meshplan %meshplan-opt %meshplan-run   the programs of this build
#   %python                                 Python with the packages of tools/requirements.txt
#   %root                                   top of the source tree
#   %harness                                a command of test/harness, whose name follows
#   %{inputs}                               the folder Inputs beside the test file
#   %{models}                               exported models, made once for a build
#   %run-steps %run-cases %damage-step %plan-messages   the programs of test/lib/training, cases, damage and messages
#   %meshplan-run-on-one-gpu                the program of test/lib/one_gpu
#   %{end-at-send}                          the library that kills a process under mpirun at a chosen send
#
# A program that this build left out is a missing feature of the same name: `REQUIRES: meshplan-run`. The feature `mpi`
# is there when the build has the backend and mpirun is installed.
import os
import shutil

import lit.formats

config.name = "meshplan"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".plan"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.meshplan_source_dir, "test")
config.test_exec_root = os.path.join(config.meshplan_build_dir, "test")

if "long" not in lit_config.params:
    config.excludes.append("long")

bin_dir = os.path.join(config.meshplan_build_dir, "bin")
# The longer names come first: lit replaces text, and %meshplan is a prefix of the others.
for program in (
    "meshplan-run-on-one-gpu",
    "meshplan-opt",
    "meshplan-run",
    "meshplan",
    "run-steps",
    "run-cases",
    "damage-step",
    "plan-messages",
):
    path = os.path.join(bin_dir, program)
    config.substitutions.append(("%" + program + r"(?![\w-])", path))
    if os.path.exists(path):
        config.available_features.add(program)
if config.meshplan_mpi and shutil.which("mpirun"):
    config.available_features.add("mpi")
config.substitutions.append((r"%harness\b", "%python %root/test/harness"))
config.substitutions.append((r"%python\b", config.meshplan_python))
config.substitutions.append((r"%root\b", config.meshplan_source_dir))
config.substitutions.append((r"%\{inputs\}", "%S/Inputs"))
config.substitutions.append((r"%\{models\}", os.path.join(config.meshplan_build_dir, "test", "models")))
config.substitutions.append((r"%\{end-at-send\}", os.path.join(config.meshplan_build_dir, "lib", "libend-at-send.so")))

config.environment["PATH"] = os.pathsep.join([config.llvm_tools_dir, bin_dir, os.environ["PATH"]])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input-filter=all"
# Six ranks as threads must not each start a pool of threads.
config.environment["OMP_NUM_THREADS"] = "1"

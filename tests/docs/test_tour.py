"""The tour and the page of the language are held to what they say: code and commands run, each claim has a test."""

import ast
import importlib
import os
import pkgutil
import platform
import re
import shlex
import subprocess
import sys

import pytest

from affdsl.codegen.toolchain import find_compiler
from tests.docs.claims import ROOT, Document, is_there, unheld
from tests.oracles import require
from tests.test_project import run_blocks

TOUR, LANGUAGE = Document("docs/tour.md"), Document("docs/guides/language.md")


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    """A folder in which the code of the tour was run, with what it printed, as `printed`, and the C of `matmul`."""
    folder = tmp_path_factory.mktemp("tour")
    with pytest.MonkeyPatch.context() as patch, open(folder / "printed", "w+", encoding="utf-8") as printed:
        patch.chdir(folder)
        patch.setattr(sys, "stdout", printed)
        run_blocks(TOUR.text, "tour.md")
    return folder


def test_every_block_is_of_a_kind_that_is_run_or_compared():
    assert {language for language, _ in TOUR.blocks} == {"python", "c", "sh", ""}


def test_what_it_shows_is_what_comes(tour):
    printed = (tour / "printed").read_text(encoding="utf-8")
    lines = printed.splitlines()
    errors = re.findall(r"print\(error\) +# (.*) \.\.\.$", TOUR.text, re.M)
    assert len(errors) == 4
    for start in errors:
        assert [line for line in lines if line.startswith(start)], start
    for language, text in TOUR.blocks:
        if language in ("c", ""):
            assert text in printed


@pytest.fixture
def commands(tour, tmp_path, monkeypatch):
    """The folder of the tour, where `affdsl`, `cc` and `python` are those of this test."""
    (tour / "my_module.py").write_text("from examples.gemm import gemm as matmul\n")
    for command, call in (("affdsl", f"{sys.executable} -m affdsl"), ("cc", str(find_compiler().path))):
        (tmp_path / command).write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {call} "$@"\n')
        (tmp_path / command).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tour)
    return tour


INLINE = {
    "affdsl graph my_module:matmul -o graph.svg": "",
    "cc -O2 -fopenmp -c row_sums.c": "",
    "pip install affdsl[zig]": "codegen/test_toolchain.py::test_the_compiler_of_the_package_ziglang_comes_last",
    "affdsl opt": "cli/test_opt.py::test_prints_and_fails_as_mlir_opt_does",
    "affdsl opt --validate": "cli/test_validate.py::test_a_wrong_pass",
    "affdsl opt --validate --validate-report":
        "cli/test_validate.py::test_how_each_function_was_checked_is_said_where_it_is_asked_for",
    "affdsl run": "cli/test_run.py::test_sizes_that_the_arrays_tell_can_be_left_out",
    "python -m benchmarks.boundscheck": "docs/test_tour.py::test_the_cost_of_checks_is_printed",
    "AFFDSL_BOUNDSCHECK=1": "boundscheck/test_boundscheck.py::test_the_environment_decides_where_it_says_something",
    "AFFDSL_FULL_TRACEBACK=1": "test_frames.py::test_what_a_program_prints",
}  # fmt: skip
"""The commands in the text itself, and the tests that run them; those without one run as they stand."""


def test_every_command_in_the_text_is_run_by_a_test():
    assert TOUR.inline_commands == set(INLINE)
    assert [test for test in INLINE.values() if test and not is_there(test)] == []


@pytest.mark.parametrize("command", [*TOUR.commands, *(command for command, test in INLINE.items() if not test)])
def test_a_command_runs(command, commands):
    if command.startswith("cc "):
        require("gcc", ("-fopenmp",))
    if "--targets=avx512" in command and platform.machine() != "x86_64":
        pytest.skip("it builds for CPUs of another kind")
    done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True)  # noqa: S602
    assert (done.returncode, done.stderr) == (0, "")
    if command.startswith("affdsl run"):
        assert done.stdout.startswith("C: memref<?x?xf32>\n[[")
    for name in re.findall(r"(?:-o|--header) (\S+)", command):
        assert (commands / name).stat().st_size


def test_the_cost_of_checks_is_printed(monkeypatch, capsys):
    benchmark = importlib.import_module("benchmarks.boundscheck")
    monkeypatch.setenv("AFFDSL_BOUNDSCHECK", "0")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(benchmark, "BURSTS", 1)
    monkeypatch.setattr(benchmark, "SECONDS", 0)
    monkeypatch.setattr(pkgutil, "iter_modules", lambda _: [pkgutil.ModuleInfo(None, "gemm", False)])
    benchmark.main()
    assert re.match(r"gemm +[\d.]+ us without checks, +[\d.]+ times as long with them\n", capsys.readouterr().out)


CLAIMS = {
    "`old, new = new, old` in a loop is refused": "lang/test_mistakes.py::test_mistake",
    "The C is what a careful person would have written": "docs/test_tour.py::test_what_it_shows_is_what_comes",
    "`vectorize` makes vectors of the iterations": "examples/test_examples.py::test_compiled",
    "[one spelling for each operation](guides/language.md)": "docs/test_links.py::test_links_lead_somewhere",
    "All that affdsl has": "docs/test_tour.py::test_what_it_shows_is_what_comes",
    "The names are in the [reference]": "docs/test_links.py::test_the_reference_has_every_public_name_once",
    "One spelling for each operation": "mlir/test_printer.py::test_every_operation_of_the_dialects_has_a_text",
    "| a loop; also `for_(start, stop, step)`": "lang/test_language.py::test_bounds_are_extremes_steps_and_ranges",
    "| carries values;": "lang/test_language.py::test_a_plus_keeps_the_value_of_the_last_iteration",
    "(arrays-and-sizes.md#parts-of-arrays), for other": "parts/test_kernels.py::test_they_do_what_numpy_does",
    "| a loop that ends when its condition no longer holds;": "loops/test_kernels.py::test_they_do_what_python_does",
    "| for debugging, in compiled code too:":
        "loops/test_debug.py::test_what_does_not_hold_is_raised_with_the_line_the_text_and_the_values",
    "also in loops and branches |": "lang/test_variables.py::test_a_conditional_sum",
    "one kernel for [several types](several-types.md)":
        "generic/test_families.py::test_each_type_is_a_kernel_of_its_own",
    "arrays of [any rank](several-types.md#any-rank)": "generic/test_families.py::test_of_any_rank",
    "| a branch;": "lang/test_language.py::test_branches_are_affine_or_computed",
    "| iterations in any order;": "lang/test_language.py::test_parallel_bands_reduce",
    "indices take `+ - * // %` and `.ceildiv` |":
        "lang/test_language.py::test_divisions_of_indices_are_those_of_python",
    "`return t` gives one to the caller |":
        "lang/test_language.py::test_arrays_are_allocated_copied_freed_and_returned",
    "| functions, choices, casts |":
        "lang/test_operators.py::test_every_operator_and_method_gives_a_result_or_an_error_that_teaches",
    "| vectors, with the same operators |": "lang/test_more_ops.py::test_vectors",
    "| vectors that a loop carries |": "lang/test_carried_vectors.py::test_a_sum_in_lanes",
    "| the rest of the dialect |": "lang/test_more_ops.py::test_a_tile_through_a_fast_memory",
    "each call checks it |": "test_kernel.py::test_contracts_are_checked",
    "Data may decide:": "lang/test_language.py::test_what_data_says_is_not_affine",
    "A kernel may call kernels": "test_kernel.py::test_a_kernel_calls_a_kernel",
    "a method or a closure": "test_kernel.py::test_a_method_is_built_for_each_object",
    "Mistakes are reported where they are made": "lang/test_mistakes.py::test_mistake",
    "(which symbol disagrees between which arguments)":
        "test_kernel.py::test_sizes_that_disagree_name_the_symbol_and_both_arguments",
    "takes any strides, without a copy": "strided/test_calls.py::test_views_go_in_without_a_copy",
    "are taken where they are": "codegen/test_foreign.py::test_memory_is_read_and_written_where_it_is",
    "layout, overlap": "codegen/test_caller.py::test_overlap_with_what_is_written",
    "Dependences are exact":
        "passes/analysis/test_dependence.py::test_random_programs_have_the_dependences_of_their_runs",
    'and "not known" is an answer': "passes/analysis/test_dependence.py::test_what_is_not_known_depends_and_says_why",
    "Every access is proved to stay inside": "passes/analysis/test_bounds.py::test_what_stays_inside_is_proved",
    "something of the sizes is checked by each call":
        "lang/test_bounds.py::test_a_call_with_sizes_that_lead_out_of_bounds_is_refused",
    "what depends on data is listed by `check()`": "lang/test_bounds.py::test_check_tells_what_is_known_of_each_access",
    "Subscripts may be linearized by hand":
        "linearized/test_linearized.py::test_row_and_column_are_recovered",
    "is at least 0 everywhere": "passes/analysis/test_sizes.py::test_the_entry_refuses_a_negative_size",
    "`matmul.graph()` is the graph": "passes/analysis/test_graph.py::test_kernels_have_dependences_and_a_graph",
    "which notebooks draw": "test_notebook.py::test_what_is_asked_of_a_kernel_shows_itself_as_it_prints",
    "in the 30 kernels of PolyBench": "polybench/test_facts.py::test_the_page_is_what_the_analyses_find",
    "proved legal for all sizes, or refused with two iterations":
        "transformations/test_cases.py::test_what_is_not_legal_is_refused_with_two_iterations_that_change_places",
    "with what would be legal":
        "passes/advice/test_alternatives.py::test_every_proposal_can_be_done_and_the_program_does_the_same",
    "Python that replays it": "schedule/test_schedule.py::test_random_schedules_of_examples_replay_and_are_undone",
    "There are `tile`": "docs/test_tour.py::test_the_steps_are_all_there_are",
    "`s.undo()` takes back": "schedule/test_schedule.py::test_undo_gives_what_it_took_back",
    "`s.explain()` says": "schedule/test_schedule.py::test_it_explains_steps_and_refusals",
    "A loop whose bounds come from data": "passes/transforms/test_steps.py::test_steps",
    "Where two have one name they are": "schedule/test_schedule.py::test_names_that_meet_are_told_apart",
    "unless a step is given `reassociate=True`":
        "schedule/test_advice.py::test_other_loops_are_advised_where_no_rounding_is_allowed",
    "carried as a value first":
        "schedule/test_advice.py::test_a_sum_of_a_loop_that_may_not_run_is_carried_as_a_value_too",
    "What a kernel promises of its sizes is not asked again":
        "schedule/test_advice.py::test_what_may_not_run_so_often_is_kept_in_values_where_the_kernel_promises_that_it_does",
    "Parallel loops are OpenMP": "codegen/c/test_statements.py::test_parallel_reductions",
    "is the kernel for one size": "test_specialize.py::test_numbers_stand_in_c_and_in_mlir_and_are_no_arguments",
    "It can be asked for before": "test_specialize.py::test_before_and_after_schedules_passes_and_the_optimizer",
    "A kernel can be pickled": "test_pickle.py::test_another_process_runs_what_a_pickle_holds",
    '`kernel.halo("A")` says': "halo/test_halo.py::test_it_is_enough_and_not_too_much",
    "arrays may be larger than the memory of a machine":
        "cluster/test_dask.py::test_the_example_on_a_cluster_of_two_processes",
    "says where the time goes, by loop nest": "seeing/test_profile.py::test_each_nest_of_a_call_is_measured",
    "below the lines that they are of":
        "seeing/test_assembly.py::test_instructions_are_of_the_line_that_asks_for_them",
    "Passes of `affdsl opt` work on kernels": "test_kernel.py::test_passes_are_applied_to_kernels",
    "the error names the first step at fault":
        "passes/validation/test_validation.py::test_the_first_step_at_fault_is_named_and_python_that_replays_is_saved",
    "writes the C of kernels and its header": "docs/test_shipping.py::test_its_commands_build_and_run_what_it_says",
    "checks its arguments as a kernel does":
        "shipping/test_wheel.py::test_it_refuses_what_kernels_refuse_in_the_same_words",
    "chooses at its first call what the CPU has":
        "shipping/test_c.py::test_the_best_target_that_the_cpu_has_is_chosen_or_one_that_is_asked_for",
    "a compiler for another machine": "shipping/test_c.py::test_a_library_for_another_machine_runs_there",
    "the one that `pip install affdsl[zig]` brings":
        "codegen/test_toolchain.py::test_the_compiler_of_the_package_ziglang_comes_last",
    "MLIR text comes back in": "mlir/test_round_trip.py::test_a_program_that_is_read_back_computes_the_same",
    "the spellings of 2019": "mlir/test_legacy.py::test_whole_programs",
    "does not know are kept and printed":
        "mlir/test_foreign.py::test_an_unknown_operation_in_custom_form_is_read_as_what_it_is",
    "takes the flags and pass names of `mlir-opt`": "cli/test_opt.py::test_prints_and_fails_as_mlir_opt_does",
    "given to `affdsl run` before the arrays, or left out":
        "cli/test_run.py::test_sizes_that_the_arrays_tell_can_be_left_out",
    "no contraction": "codegen/test_toolchain.py::test_jit_flags_keep_floating_point_strict",
    "Elements wrap, `x // 0` is 0": "ir/test_semantics.py::test_integer_binary_on_all_of_i8",
    "`matmul.interpret(a, b, c)` checks every access":
        "ir/test_interpreter.py::test_out_of_bounds_names_everything",
    "the tests hold C and MLIR against it": "differential/test_differential.py::test_gcc_and_the_interpreter_agree",
    "with the numbers of that call":
        "lang/test_semi_affine.py::test_a_product_that_divides_is_asked_with_the_numbers_of_the_call",
    "A divisor that is not positive is refused":
        "test_kernel.py::test_a_divisor_that_is_not_positive_is_refused_and_stops_no_process",
    "The cache is private and verified": "codegen/test_cache.py::test_a_damaged_entry_is_built_again_with_a_warning",
    "the compiler runs without a shell": "codegen/test_toolchain.py::test_no_shell_reads_the_variable",
    "no name of yours can inject text": "codegen/c/test_names.py::test_hostile_arguments_loops_and_values_compile",
    "Then each access of a call is checked":
        "boundscheck/test_operations.py::test_an_operation_is_checked_as_the_interpreter_does",
    "`af.c64` and `af.c128` are": "complex_numbers/test_kernels.py::test_numpy_the_interpreter_and_c_agree",
    "raises `DivisorError`":
        "boundscheck/test_boundscheck.py::test_a_divisor_that_is_not_positive_is_found_where_it_is_computed_with",
    "leave the loop around, or go on with its next iteration":
        "loops/test_early.py::test_they_do_what_python_does",
    "a dozen kernels to read": "docs/test_tour.py::test_there_are_a_dozen_examples",
    "Type checkers read": "types/test_types.py::test_the_tour_is_accepted",
    "Tracebacks show your lines": "test_frames.py::test_tracebacks_show_the_lines_of_the_user_alone",
    "the first of `$AFFDSL_CC`, `$CC`, gcc, clang and cc":
        "codegen/test_toolchain.py::test_candidates_are_tried_in_order_and_never_in_the_working_directory",
    "kept in `$AFFDSL_CACHE_DIR`": "codegen/test_cache.py::test_the_environment_names_the_folder",
}  # fmt: skip
"""What both pages say, in their words, and the test that holds it."""


def test_every_paragraph_says_something_that_a_test_holds():
    assert unheld([*TOUR.paragraphs, *LANGUAGE.paragraphs], CLAIMS) == []


def test_the_steps_are_all_there_are():
    (listed,) = re.findall(r"There are ((?:`\w+`(?:, | and |,\s|\s)*)+)", " ".join(TOUR.prose.split()))
    (schedule,) = [
        node
        for node in ast.parse((ROOT / "affdsl" / "schedule" / "primitives.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name == "Primitives"
    ]
    steps = {
        node.name
        for node in schedule.body
        if isinstance(node, ast.FunctionDef) and "self._take(" in ast.unparse(node) and not node.name.startswith("_")
    }
    assert set(re.findall(r"`(\w+)`", listed)) == steps


def test_there_are_a_dozen_examples():
    assert (
        10
        <= len([path for path in (ROOT / "examples").glob("*.py") if path.stem not in ("__init__", "case", "demo")])
        <= 16
    )

"""What is known of this machine: its registers and its caches."""

from affdsl.codegen.c.vector_helpers import TARGETS
from affdsl.codegen.native import CACHES, caches, core_of, native_target
from affdsl.codegen.targets.baseline import BASELINE


def described(folder, *facts):
    """A folder as Linux has one, with level, type and size of some caches."""
    for k, words in enumerate(facts):
        (folder / f"index{k}").mkdir(parents=True)
        for name, word in zip(("level", "type", "size"), words, strict=False):
            (folder / f"index{k}" / name).write_text(f"{word}\n")
    return folder


def test_caches_for_data_come_in_order(tmp_path):
    facts = ("3", "Unified", "32M"), ("1", "Instruction", "64K"), ("1", "Data", "32K"), ("2", "Unified", "1024K")
    assert caches(described(tmp_path, *facts)) == (32 << 10, 1 << 20, 32 << 20)


def test_what_is_not_described_is_not_known(tmp_path):
    assert caches(tmp_path / "nothing") == ()
    assert (
        caches(described(tmp_path, ("1", "Data", "much"), ("2", "Unified"), ("x", "Data", "1K"), ("3", "Data", "")))
        == ()
    )


def test_the_machine_has_a_known_set_and_growing_caches():
    found = native_target()
    assert found.name in {target.name for target in (*TARGETS, BASELINE)}
    assert list(found.caches) == sorted(found.caches)
    assert CACHES.is_dir() or not found.caches


def test_cores_are_known_by_their_sets():
    """What clang 22 defines for `-march=znver4`, `icelake-server`, `cooperlake`, `sapphirerapids`, `znver5`."""
    vbmi, bf16, fp16, vnni = (f"__{name}__" for name in ("AVX512VBMI", "AVX512BF16", "AVX512FP16", "AVXVNNI"))
    assert core_of({vbmi, bf16}) == "zen4"
    assert {core_of(known) for known in ({vbmi}, {bf16}, {vbmi, bf16, fp16, vnni}, {vbmi, bf16, vnni}, set())} == {""}


def test_sets_say_what_they_have():
    for target in (*TARGETS, BASELINE):
        assert target.caches == ()
        assert target.streams == (target.header == "immintrin.h")

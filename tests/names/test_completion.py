"""What may stand after `kernel.` and `kernel.optimize().`: for jedi, which reads, and for notebooks, which ask objects.

Pyright is asked in `test_definitions.py`, where it runs.
"""

import jedi
import pytest
from IPython.core.completer import IPCompleter, provisionalcompleter

from tests.names.language_server import ASKED, EXPECTED, KERNEL


@pytest.fixture(scope="module")
def notebook() -> IPCompleter:
    names: dict[str, object] = {}
    exec(compile(KERNEL, "/tmp/ipykernel_1/1.py", "exec"), names)  # a cell has no file
    return IPCompleter(namespace=names)


@pytest.mark.parametrize("words", ASKED)
def test_ipython(words: str, notebook: IPCompleter) -> None:
    with provisionalcompleter():
        assert {each.text for each in notebook.completions(words, len(words))} >= EXPECTED


def test_jedi() -> None:
    lines = KERNEL.count("\n")
    script = jedi.Script(KERNEL + "\n".join(ASKED))
    for n, words in enumerate(ASKED, 1):
        assert {each.name for each in script.complete(lines + n, len(words))} >= EXPECTED, words

"""Programs made for verbs that others hardly reach: `python -m tests.schedule.made.run --count 450 --seed 1`.

So many programs for each verb, in whose shape it is legal unless something is planted. What is accepted must leave the
same by the interpreter and as C, replay and be undone; what is refused must be, and say why. Prints counts for each
verb, the reasons of its refusals, and what was wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from tests.harness.command import Watch, chosen_from, parser, seeds
from tests.harness.processes import Death, answers
from tests.schedule.made.check import MAKERS, Report, check

BATCH = 30


def table(report: Report) -> str:
    """What became of the programs, a paragraph for each verb."""
    lines: list[str] = []
    for verb, row in report.rows.items():
        refused = sum(row.refused.values())
        lines.append(
            f"{verb}: {row.programs} programs, {row.accepted} accepted, {row.compiled} of them compiled and "
            f"{row.validated} validated; {refused} "
            f"refused, {row.forced} of them forced, {row.changed} with other results; {len(row.wrong)} wrong"
        )
        lines += [f"{n:6} refused: {why}" for why, n in row.refused.most_common()]
        lines += [f"{n:6} refused with nothing planted: {why}" for why, n in row.unplanted.most_common()]
        lines += [f"{n:6} accepted, though planted was: {why}" for why, n in row.harmless.most_common()]
        lines += [f"       refused for its order, which would change nothing: {each}" for each in row.unchanged]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try as many programs as asked for; the exit status says whether all was right."""
    options = parser("tests.schedule.made.run", __doc__, 450, processes=True)
    options.add_argument("--verbs", default="", help="only these, with commas between them")
    options.add_argument("--minutes", type=float, default=1e9, help="begin nothing more after so many")
    options.add_argument("--no-c", action="store_true", help="do not compile what is accepted")
    chosen = options.parse_args(arguments)
    verbs = chosen_from(options, "verb", chosen.verbs, [*MAKERS]) or [*MAKERS]
    watch, total = Watch(), Report()
    asked = [(verb, seed) for seed in seeds(chosen) for verb in verbs]
    batches = [asked[k : k + BATCH] for k in range(0, len(asked), BATCH)]
    for batch, report in zip(
        batches, answers(partial(check, compiled=not chosen.no_c), batches, chosen.processes), strict=False
    ):
        if isinstance(report, Death):
            raise RuntimeError(f"one of {batch}: {report}")
        total.add(report)
        for row in report.rows.values():
            for which, said in row.wrong:
                if watch.is_news(said.partition("\n")[0].partition(" is ")[0], 2):
                    print(f"{which}: {said}\n", flush=True)
        watch.say(
            sum(row.programs for row in total.rows.values()),
            "programs",
            sum(len(row.wrong) for row in total.rows.values()),
        )
        if watch.seconds > 60 * chosen.minutes:
            break
    print(table(total))
    print(f"{watch.seconds:.0f} s")
    return int(any(row.wrong for row in total.rows.values()))


if __name__ == "__main__":
    sys.exit(main())

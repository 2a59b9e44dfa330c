"""nur eval."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from nur.domain.errors import BadRequest
from nur.domain.search import DEFAULT_MAX_CHARS, Mode
from nur.evaluation import dataset
from nur.evaluation.calibrating import MIN_QUESTIONS
from nur.evaluation.folding import measure_folding
from nur.evaluation.plot import svg
from nur.evaluation.record import record
from nur.evaluation.reliability import all_reliabilities, reliability_svg, reliability_table
from nur.evaluation.run import EvalOptions, evaluate, evaluate_own, evaluate_together
from nur.evaluation.table import figure, injection_line, tables
from nur.settings import load as load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.evaluation.report import Report
    from nur.evaluation.run import Calibrated

#: Below this terminal width, headers and intervals are wrapped into two lines.
NARROW = 140
#: Width without a terminal: enough for every column.
WIDE = 200


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--self", "own", is_flag=True, help="Measure your own store, with questions drawn from it.")
@click.option(
    "--calibrate", is_flag=True, help="With --self: choose the relevance floor and save it in the data folder."
)
@click.option("--together", is_flag=True, help="Load all data sets into one store and search it with all questions.")
@click.option(
    "--baseline",
    type=click.Choice(["lexical", "dense", "specification", "none"]),
    multiple=True,
    default=("lexical",),
    show_default=True,
    help="Compare with BM25 alone, vectors alone or the first specification's fusion. May be repeated.",
)
@click.option("--by-category", is_flag=True, help="Add one row per category of questions.")
@click.option("--halves", is_flag=True, help="Add one row per half: choose settings on one, confirm on the other.")
@click.option(
    "--reliability",
    is_flag=True,
    help="Add a table of how reliable confidence is, and of how many hits are shown; --plot then draws it.",
)
@click.option("--off-topic", is_flag=True, help="Also ask each question in another conversation, for AUROC.")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.HYBRID.value,
    show_default=True,
    help="Rankers to use.",
)
@click.option(
    "--max-chars",
    type=click.IntRange(100),
    default=DEFAULT_MAX_CHARS,
    show_default=True,
    help="Maximum characters of passages in a result.",
)
@click.option(
    "--limit", type=click.IntRange(1), help="Maximum questions per data set; the same sample is taken every time."
)
@click.option(
    "--chunking",
    type=click.Choice(["window", "sentences", "structure"]),
    help="How to chunk documents (CHUNKING_STRATEGY).",
)
@click.option(
    "--folding", is_flag=True, help="Only measure deduplication: how many true and false duplicates share one hit."
)
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write all figures here.")
@click.option(
    "--plot", "plot_file", type=click.Path(dir_okay=False, path_type=Path), help="Write a bar chart here, as SVG."
)
@click.option(
    "--data-dir", type=click.Path(file_okay=False), help="With --self: folder that holds the store (NUR_DATA_DIR)."
)
def command(paths: tuple[Path, ...], json_file: Path | None, plot_file: Path | None, **options: Any) -> None:
    """Measure how well search finds the right passage.

    PATH is a data set (a folder with meta.json, corpus.jsonl.gz and queries.jsonl.gz) or a folder of data sets. Each is
    loaded into a temporary store; your own store is not touched.
    """
    _check(paths, options)
    if options["folding"]:
        for folder in dataset.find(paths):
            click.echo(f"{folder.name}: {measure_folding(dataset.load(folder))}")
        return
    reports, calibration = asyncio.run(_evaluate(paths, options))
    console = Console()
    console = console if console.is_terminal else Console(width=WIDE)
    narrow = console.width < NARROW
    for table in tables(reports, by_category=options["by_category"], halves=options["halves"], narrow=narrow):
        console.print(table)
    reliable = all_reliabilities(reports, halves=options["halves"]) if options["reliability"] else []
    if reliable:
        console.print(reliability_table(reliable))
    for line in _remarks(reports, off_topic=options["off_topic"]):
        click.echo(line)
    if calibration is not None:
        click.echo(calibration)
    if json_file is not None:
        _write(json_file, json.dumps(record(reports), indent=1, ensure_ascii=False) + "\n")
    if plot_file is not None:
        _write(plot_file, reliability_svg(reliable) if reliable else svg(reports))


def _remarks(reports: list[Report], *, off_topic: bool) -> Iterator[str]:
    """Lines below the tables."""
    if off_topic:
        yield from filter(None, map(injection_line, reports))
    for report in reports:
        if len(report.nur.scores) < MIN_QUESTIONS:
            yield f"{report.data.name}: {len(report.nur.scores)} questions are too few: the figures mean little."


def _check(paths: tuple[Path, ...], options: dict[str, Any]) -> None:
    """Refuse options that contradict each other. Raises UsageError."""
    if bool(paths) == options["own"]:
        raise click.UsageError("Give the folder of a data set, or --self to measure your own store.")
    if options["together"] and options["own"]:
        raise click.UsageError("--together loads data sets; --self measures your own store.")
    if options["folding"] and options["own"]:
        raise click.UsageError("--folding compares the rows of data sets; --self measures your own store.")
    if options["calibrate"] and not options["own"]:
        raise click.UsageError("--calibrate needs --self: it measures your own store.")


async def _evaluate(paths: tuple[Path, ...], options: dict[str, Any]) -> tuple[list[Report], str | None]:
    """The reports, and the result of a calibration in words."""
    wanted = EvalOptions(
        baselines=tuple(name for name in dict.fromkeys(options["baseline"]) if name != "none"),
        mode=Mode(options["mode"]),
        max_chars=options["max_chars"],
        questions=options["limit"],
        off_topic=options["off_topic"],
        chunking=options["chunking"],
    )
    folders = dataset.find(paths)
    console = Console(stderr=True)
    bars = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*bars, console=console, transient=True, disable=not console.is_terminal) as progress:
        if options["together"]:
            return await evaluate_together(folders, wanted, progress), None
        if not options["own"]:
            return [await evaluate(folder, wanted, progress) for folder in folders], None
        folder = {"nur_data_dir": options["data_dir"]} if options["data_dir"] else {}
        settings = load_settings(**folder, trace_retention_days=0)  # nobody explains these searches
        report, calibrated = await evaluate_own(settings, wanted, progress, calibrate=options["calibrate"])
        return [report], None if calibrated is None else _describe(calibrated)


def _describe(calibrated: Calibrated) -> str:
    """The result of a calibration and where it was saved, in words."""
    found, profile = calibrated.found, calibrated.calibration
    if calibrated.path is None:
        return (
            f"Nothing was written: fewer than {MIN_QUESTIONS} questions are too few for a calibration. "
            f"The relevance floor stays at {profile.floor}."
        )
    separation = f"The score separates known items from off-topic questions with AUROC {figure(found.auroc)}."
    floor = (
        f"Relevance floor {found.floor}: it rejects {found.rejected:.0%} of the off-topic questions and loses "
        f"{found.lost:.0%} of the known items."
        if found.floor is not None
        else "No relevance floor: none rejects enough off-topic questions without losing answers."
    )
    saved = f"Cosine weight {profile.cosine_weight} (unchanged). Written to {calibrated.path}"
    return "\n".join([separation, floor, saved])


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadRequest(f"Cannot write {path} ({error.strerror}).") from error

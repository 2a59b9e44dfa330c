"""Every command that README and docs show is run, or says why it is not."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.shown_commands import SERVES, Block, Machine, blocks, normal

ROOT = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(ROOT)): list(blocks(path.read_text(encoding="utf-8")))
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
}
RUN = {name: [block for block in found if block.reason is None] for name, found in PAGES.items()}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.mark.parametrize("name", [name for name, found in RUN.items() if found])
def test_the_commands_of_a_page_work_and_print_what_it_shows(name: str, tmp_path: Path) -> None:
    shown = RUN[name]
    with Machine(tmp_path, free_port()) as machine:
        if not SERVES.match(shown[0].commands[0].text):
            machine.serve()
        problems = [f"{name}:{block.line}\n{problem}" for block in shown for problem in machine.run(block)]
    assert problems == [], "\n\n".join(problems)


@pytest.mark.parametrize("name", [name for name, found in PAGES.items() if found])
def test_a_block_that_is_not_run_has_a_reason(name: str) -> None:
    unclear = [block.line for block in PAGES[name] if block.mark and block.reason is None]
    assert unclear == [], "the comment before a block of commands is `not run: reason`"


def test_most_blocks_of_ours_are_run() -> None:
    """Commands of other programs, keys and containers are what cannot be run; `nur` can."""
    counted = [block for found in PAGES.values() for block in found]
    assert len([block for block in counted if block.reason is None]) >= len(counted) / 2


def test_a_block_is_read_as_commands_with_their_output() -> None:
    text = "Words.\n\n```console\n$ nur a      # why\nprints this\n$ cat <<'END'\nin here\nEND\n$ b \\\n  c\n```\n"
    (block,) = blocks(text)
    assert [command.text for command in block.commands] == ["nur a", "cat <<'END'\nin here\nEND", "b \\\n  c"]
    assert block.commands[0].output == ("prints this",)
    assert block.reason is None


def test_a_reason_is_read_from_the_comment_before_the_block() -> None:
    (block,) = blocks("<!-- not run: needs a key -->\n\n```bash\ndocker compose up\n```\n")
    assert block.reason == "needs a key"


def test_ids_times_and_widths_do_not_matter() -> None:
    assert normal("Stored [mem_1809f0294a3d]  at 07:40, 2026-11-16") == normal(
        "Stored [mem_ffffffffffff] at 08:10, 2027-01-02"
    )
    assert normal("works") != normal("does not work")


def test_a_failing_command_and_missing_output_are_reported(tmp_path: Path) -> None:
    """The harness itself can fail."""
    (block,) = blocks("```console\n$ echo one\ntwo\n$ false\n```\n")
    assert isinstance(block, Block)
    with Machine(tmp_path, free_port()) as machine:
        problems = machine.run(block)
    assert len(problems) == 2
    assert "does not print 'two'" in problems[0]
    assert "exit code 1" in problems[1]

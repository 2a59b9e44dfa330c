"""The `nur` command group: its table of commands, its start page and its exit codes."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from nur.domain.errors import BadConfiguration, BadRequest, DataFolderInUse, NotFound, NurError, StoreUnusable

if TYPE_CHECKING:
    from collections.abc import Sequence

#: One line of help per command, in the order of the help page. Each command is in the module of the same name.
COMMANDS = {
    "serve": "Run the server: web page at /, MCP at /mcp, REST at /v2.",
    "worker": "Do background work for servers that share a PostgreSQL store.",
    "stdio": "Speak MCP on standard input and output, for clients that start their servers.",
    "status": "Show the running server: address, health, number of notes.",
    "stop": "Stop the data folder's server.",
    "logs": "Show the last lines of the server's log.",
    "service": "Keep the server running: install, uninstall, status.",
    "search": "Find the passages that answer a question, in everything stored.",
    "explain": "Explain why a search returned its hits, or why it left a note out.",
    "context": "Print the brief that an agent starts a session with.",
    "ingest": "Store files: documents, mail, tables, code, chat exports.",
    "remember": "Store a memory, a note or an event.",
    "list": "List what is stored, newest first.",
    "get": "Show a note of any kind, with its whole text.",
    "edit": "Change a note's text, title or type.",
    "versions": "List a note's previous texts, show one or restore it.",
    "review": "Resolve memories that may contradict or repeat each other.",
    "timeline": "List what was said or happened, in order of time.",
    "changes": "List what was created, replaced, deleted and superseded.",
    "forget": "Move notes to the trash.",
    "restore-note": "Bring notes back from the trash.",
    "purge": "Erase notes for good.",
    "resolve": "Mark notes as resolved.",
    "rebuild": "Rebuild the vector index from stored vectors.",
    "reembed": "Embed everything with another model and switch to it.",
    "upgrade": "Finish a PostgreSQL schema change, after every server was updated.",
    "migrate": "Copy the store to PostgreSQL, or back to a SQLite file.",
    "backup": "Copy the store into one verified file, while the server runs.",
    "restore": "Verify a backup and replace the store with it.",
    "export": "Write everything stored to a file that nur import can read.",
    "import": "Store the notes of an export, or of another memory program.",
    "eval": "Measure how well search finds the right passage.",
    "connect": "Connect an MCP client: Claude, Cursor, VS Code, Codex and others.",
    "hook": "Handle one event of a client's session; clients run it.",
    "config": "Show the settings in effect; secrets are masked.",
    "doctor": "Check this machine and a running server: the smoke test after a deployment.",
    "completion": "Print the completion script for a shell.",
}

#: Commands shown when `nur` runs without a command, each with its purpose.
FIRST_STEPS = {
    "{nur} serve": "start the server",
    "{nur} connect claude-code": "connect Claude Code, or another client",
    '{nur} remember "My flight is at 07:40"': "store something",
    "{nur} ingest notes/": "store a folder of files",
    '{nur} search "when do I fly?"': "find it again",
    "{nur} doctor": "check that everything works",
    "{nur} --help": "see all commands",
}

OK, BUG, BAD_CONFIGURATION, IN_USE, UNUSABLE, NOT_FOUND = 0, 1, 2, 3, 4, 5


class Commands(click.Group):
    """A group that imports a command only when it is run: `nur --help` stays instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Command names, in the order of the help page."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if there is no such command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"nur.entrypoints.cli.commands.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names and options without importing the commands."""
        options = [] if incomplete[:1].isalpha() else click.Command.shell_complete(self, ctx, incomplete)
        names = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return [*names, *options]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 clean, 1 bug, 2 bad configuration or usage, 3 data folder in use, "
    "4 store newer than the program, foreign or damaged, 5 not found.",
)
@click.version_option(version("nur-memory"), prog_name="nur")
@click.pass_context
def nur(context: click.Context) -> None:
    """Memory for AI agents that returns the right passage with its evidence."""
    if context.invoked_subcommand is None:
        click.echo(_first_steps(context.info_name or "nur"))


def _first_steps(program: str) -> str:
    """The start page: a first few commands, with the purpose of each."""
    steps = [(command.format(nur=program), purpose) for command, purpose in FIRST_STEPS.items()]
    width = max(len(command) for command, _ in steps)
    lines = [f"  {command:<{width}}  {purpose}" for command, purpose in steps]
    return "\n".join(["Nur is memory for AI agents. What to do next:", "", *lines])


def exit_code(error: NurError) -> int:
    """Exit code of an error."""
    if isinstance(error, DataFolderInUse):
        return IN_USE
    if isinstance(error, StoreUnusable):
        return UNUSABLE
    if isinstance(error, NotFound):
        return NOT_FOUND
    return BAD_CONFIGURATION if isinstance(error, BadConfiguration | BadRequest) else BUG


def run(arguments: Sequence[str] | None = None, *, called: str = "nur") -> int:
    """Run the command line and return its exit code; an error is one line on standard error.

    `called` is the program's name in help and hints: `nur`, or `nur-memory` where only that is on the PATH.
    """
    try:
        # The code given to `ctx.exit`, or whatever the command returned.
        result = nur.main(args=None if arguments is None else list(arguments), prog_name=called, standalone_mode=False)
    except click.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return BAD_CONFIGURATION
    except NurError as error:
        click.echo(f"nur: {error}", err=True)
        return exit_code(error)
    return result if isinstance(result, int) else OK

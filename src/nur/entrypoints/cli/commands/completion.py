"""nur completion."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from nur.domain.errors import BadRequest

VARIABLE = "_NUR_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the shell script that completes commands and options.

    \b
    bash: nur completion bash > ~/.local/share/bash-completion/completions/nur
    zsh:  nur completion zsh > ~/.zfunc/_nur   (any folder of your fpath)
    fish: nur completion fish > ~/.config/fish/completions/nur.fish
    """  # noqa: D301  # \b keeps click from joining the lines
    from nur.entrypoints.cli.app import nur

    script = get_completion_class(shell)
    if script is None:
        raise BadRequest(f"There is no completion for {shell}.")
    click.echo(script(nur, {}, "nur", VARIABLE).source())

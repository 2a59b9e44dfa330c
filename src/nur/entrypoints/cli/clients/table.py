"""Table of the MCP clients that `nur connect` knows."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_config_path

from nur.entrypoints.cli.clients import jsonc, toml_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nur.entrypoints.cli.clients.config_file import Format

#: Environment variable that a shared file refers to, instead of holding the token.
TOKEN_VARIABLE = "NUR_TOKEN"  # noqa: S105  # a name


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders in which this user's programs keep their configuration."""

    platform: str  #: `sys.platform`: linux, darwin, win32
    home: Path
    config: Path  #: ~/.config, ~/Library/Application Support or %APPDATA%
    project: Path

    @classmethod
    def here(cls) -> Folders:
        """The folders of this process."""
        return cls(sys.platform, Path.home(), user_config_path(roaming=True), Path.cwd())

    def path(self, template: str) -> Path:
        """Fill a path template of the table, such as `{home}/.cursor/mcp.json`."""
        return Path(template.format(home=self.home, config=self.config))


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program that speaks MCP. Paths and keys are those of its own documentation."""

    name: str
    title: str
    user: str | None  #: configuration file for all projects; None: it has a settings window instead
    user_elsewhere: Mapping[str, str] = field(default_factory=dict)  #: by platform, if the path differs there
    project: str | None = None  #: configuration file in a project's folder
    key: str = "mcpServers"  #: top-level key of the servers
    format: Format = jsonc
    stdio: Mapping[str, Any] = field(default_factory=dict)  #: further fields of an entry with a command
    http: Mapping[str, Any] = field(default_factory=dict)  #: further fields of an entry with a URL
    url_key: str | None = "url"  #: None: it accepts commands only
    headers_key: str = "headers"
    shared_token: Mapping[str, Any] | None = None  #: fields that refer to the token's variable, for a shared file
    traces: tuple[str, ...] = ()  #: paths that show that it is installed; any one is enough
    programs: tuple[str, ...] = ()  #: programs on the PATH that show the same
    then: str  #: what the user does next

    def user_file(self, folders: Folders) -> Path | None:
        """Configuration file for all projects."""
        template = self.user_elsewhere.get(folders.platform, self.user)
        return None if template is None else folders.path(template)

    def project_file(self, folders: Folders) -> Path | None:
        """Configuration file in the current folder."""
        return None if self.project is None else folders.project / self.project


def _bearer(reference: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {reference}"}}


_VS_CODE = "{config}/Code/User"

CLIENTS = {
    client.name: client
    for client in (
        Client(
            name="claude-code",
            title="Claude Code",
            user="{home}/.claude.json",
            project=".mcp.json",
            stdio={"type": "stdio"},
            http={"type": "http"},
            shared_token=_bearer("${NUR_TOKEN}"),
            traces=("{home}/.claude.json", "{home}/.claude"),
            programs=("claude",),
            then="Start Claude Code again; /mcp shows its servers.",
        ),
        Client(
            name="claude-desktop",
            title="Claude Desktop",
            user="{config}/Claude/claude_desktop_config.json",
            traces=("{config}/Claude",),
            then="Quit Claude Desktop and start it again.",
        ),
        Client(
            name="cursor",
            title="Cursor",
            user="{home}/.cursor/mcp.json",
            project=".cursor/mcp.json",
            shared_token=_bearer("${env:NUR_TOKEN}"),
            traces=("{home}/.cursor",),
            programs=("cursor",),
            then="Start Cursor again.",
        ),
        Client(
            name="vscode",
            title="VS Code",
            user=f"{_VS_CODE}/mcp.json",
            project=".vscode/mcp.json",
            key="servers",
            stdio={"type": "stdio"},
            http={"type": "http"},
            shared_token=_bearer("${env:NUR_TOKEN}"),
            traces=(_VS_CODE,),
            programs=("code",),
            then="Run 'MCP: List Servers' in VS Code and start it there.",
        ),
        Client(
            name="windsurf",
            title="Windsurf",
            user="{home}/.codeium/windsurf/mcp_config.json",
            url_key="serverUrl",
            traces=("{home}/.codeium/windsurf",),
            programs=("windsurf",),
            then="Press Refresh in Windsurf's list of MCP servers.",
        ),
        Client(
            name="codex",
            title="Codex",
            user="{home}/.codex/config.toml",
            project=".codex/config.toml",
            key="mcp_servers",
            format=toml_tables,
            headers_key="http_headers",
            shared_token={"bearer_token_env_var": TOKEN_VARIABLE},
            traces=("{home}/.codex",),
            programs=("codex",),
            then="Start Codex again; /mcp shows its servers.",
        ),
        Client(
            name="gemini",
            title="Gemini CLI",
            user="{home}/.gemini/settings.json",
            project=".gemini/settings.json",
            url_key="httpUrl",
            shared_token=_bearer("$NUR_TOKEN"),
            traces=("{home}/.gemini",),
            programs=("gemini",),
            then="Start Gemini CLI again; /mcp shows its servers.",
        ),
        Client(
            name="zed",
            title="Zed",
            user="{config}/zed/settings.json",
            user_elsewhere={"darwin": "{home}/.config/zed/settings.json", "win32": "{config}/Zed/settings.json"},
            key="context_servers",
            traces=("{config}/zed", "{home}/.config/zed", "{config}/Zed"),
            programs=("zed",),
            then="Zed loads it at once.",
        ),
        Client(
            name="cline",
            title="Cline in VS Code",
            user=f"{_VS_CODE}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            http={"type": "streamableHttp"},
            traces=(f"{_VS_CODE}/globalStorage/saoudrizwan.claude-dev",),
            then="Cline loads it at once.",
        ),
        Client(
            name="cline-cli",
            title="Cline CLI",
            user="{home}/.cline/data/settings/cline_mcp_settings.json",
            http={"type": "streamableHttp"},
            traces=("{home}/.cline",),
            programs=("cline",),
            then="Start Cline again.",
        ),
        Client(
            name="copilot-cli",
            title="GitHub Copilot CLI",
            user="{home}/.copilot/mcp-config.json",
            project=".github/mcp.json",
            stdio={"type": "local", "tools": ["*"]},
            http={"type": "http", "tools": ["*"]},
            traces=("{home}/.copilot",),
            programs=("copilot",),
            then="Start Copilot CLI again; /mcp show lists its servers.",
        ),
        Client(
            name="kiro",
            title="Kiro",
            user="{home}/.kiro/settings/mcp.json",
            project=".kiro/settings/mcp.json",
            shared_token=_bearer("${NUR_TOKEN}"),
            traces=("{home}/.kiro",),
            programs=("kiro", "kiro-cli"),
            then="Kiro connects when the file is saved.",
        ),
        Client(
            name="lm-studio",
            title="LM Studio",
            user="{home}/.lmstudio/mcp.json",
            traces=("{home}/.lmstudio",),
            then="LM Studio loads it at once; switch it on in the Program tab.",
        ),
        Client(
            name="junie",
            title="JetBrains Junie",
            user="{home}/.junie/mcp/mcp.json",
            project=".junie/mcp/mcp.json",
            url_key=None,
            traces=("{home}/.junie",),
            then="Settings | Tools | Junie | MCP Settings shows its servers.",
        ),
        Client(
            name="jetbrains",
            title="JetBrains AI Assistant",
            user=None,
            url_key=None,
            traces=("{config}/JetBrains",),
            then="Paste it at Settings | Tools | AI Assistant | Model Context Protocol (MCP) | Add | As JSON.",
        ),
    )
}

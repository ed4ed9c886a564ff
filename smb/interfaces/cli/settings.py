"""`smb config`: the settings in force, where each comes from, and setting one. Its `keys` are in `cli.keys`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from smb.config import SETTINGS, Settings, UnknownSetting, config_path, write_setting
from smb.interfaces.cli import keys
from smb.interfaces.cli.command import BankOption, DebugOption, JsonOption, SmbCommand, SmbGroup, banked, keep
from smb.interfaces.cli.page import Page
from smb.interfaces.cli.session import Session


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=SmbGroup, add_completion=False, rich_markup_mode=None)
    group.callback(invoke_without_command=True, help="Show the settings in force, or change one.")(config)
    for command in (get, set_):
        group.command(command.__name__.rstrip("_"), cls=SmbCommand)(command)
    keys.register(group)
    app.add_typer(group, name="config")


def config(ctx: typer.Context, bank: BankOption = None, as_json: JsonOption = False, debug: DebugOption = False) -> None:
    keep(ctx, bank, as_json)
    if ctx.invoked_subcommand is None:
        session = Session.start(bank_dir=ctx.meta.get("smb.bank"), as_json=ctx.meta["smb.json"])
        session.show(_shown(session), settings_text)


@banked
def get(
    session: Session, key: Annotated[str, typer.Argument(metavar="KEY", help="A setting's name.", show_default=False)]
) -> None:
    """Show one setting."""
    shown = _shown(session)["settings"]
    if key not in shown:
        raise UnknownSetting("config get", key)
    session.show({"schema_version": 1, "key": key, **shown[key]}, lambda answer, page: page.style(str(answer["value"])))


def set_(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="A setting's name.", show_default=False)],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Its value.", show_default=False)],
    in_bank: Annotated[
        bool, typer.Option("--in-bank", help="Write it into bank.toml, for everyone who clones the bank.")
    ] = False,
    bank: BankOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Write one setting into your config.toml."""
    keep(ctx, bank, as_json)
    path = Settings.resolve(bank_dir=ctx.meta.get("smb.bank")).bank_dir / "bank.toml" if in_bank else config_path()
    written = write_setting(path, key, value, in_bank=in_bank)
    session = Session.on(Settings(), as_json=ctx.meta["smb.json"])  # those in force may be what is being mended
    session.show({"schema_version": 1, "key": key, "value": _plain(written), "origin": str(path)}, _written)


def settings_text(answer: dict[str, Any], page: Page) -> str:
    """A line for each setting: name, value, where it comes from."""
    rows = [(name, _said(one["value"]), one["origin"], one["about"]) for name, one in answer["settings"].items()]
    names, values = (max(len(row[i]) for row in rows) for i in (0, 1))
    return "\n".join(
        f"{page.strong(f'{name:<{names}}')}  {page.style(f'{value:<{values}}')}  {page.place(origin)}  {page.faint(about)}"
        for name, value, origin, about in rows
    )


def _shown(session: Session) -> dict[str, Any]:
    settings = session.settings
    return {
        "schema_version": 1,
        "config_file": str(config_path()),
        "settings": {
            name: {"value": _plain(getattr(settings, name)), "origin": settings.origin(name), "about": setting.about}
            for name, setting in SETTINGS.items()
        },
    }


def _written(answer: dict[str, Any], page: Page) -> str:
    return f"{page.strong(answer['key'])} = {_said(answer['value'])}  {page.place(answer['origin'])}"


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, str)) else str(value)


def _said(value: Any) -> str:
    return "-" if value == "" else f"{value:g}" if isinstance(value, float) else str(value)

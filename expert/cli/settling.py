"""The options of a command, with what a settings file and installed packs add. Cheap: every command passes through here."""

from __future__ import annotations

import argparse
from pathlib import Path

from expert.installed import installed_packs, nowhere
from expert.places import builtin_rules
from expert.settings import Settings, settings_near

BUILT_IN = ("base", "errata")


def settled(options: argparse.Namespace) -> argparse.Namespace:
    """The options with what a settings file and installed packs add; what the command line says wins.

    Adds `layers`, the folders of all packs in order, to the options of commands that take --pack.
    """
    plan = getattr(options, "plan", None)
    settings = settings_near(None if plan in (None, "-") else Path(plan))
    values = vars(options) | {"lang": options.lang or settings.lang, "settings": settings}
    if "pack" in values:
        values |= _packs(options, settings)
        if "engine" in values:
            values["engine"] = options.engine or settings.engine
    return argparse.Namespace(**values)


def _packs(options: argparse.Namespace, settings: Settings) -> dict[str, object]:
    """Built-in packs, installed ones, those of the settings file, those of --pack: a folder named twice counts where it is named last."""
    without = dict.fromkeys((*settings.without, *options.without))
    installed = installed_packs()
    # Of an installed pack without a folder nothing but the name of its entry point is known: that is how it is left out.
    lost = [pack for pack in installed if pack.folder is None]
    if error := nowhere(pack for pack in lost if pack.name not in without):
        raise error
    added = [*(pack.folder for pack in installed if pack.folder is not None), *settings.packs, *map(Path, options.pack)]
    last = {folder.resolve(): place for place, folder in enumerate(added)}
    layers = [builtin_rules() / name for name in BUILT_IN]
    layers += [folder for place, folder in enumerate(added) if last[folder.resolve()] == place]
    gone = {pack.name for pack in lost} - set(BUILT_IN)
    return {"layers": layers, "without": [name for name in without if name not in gone]}

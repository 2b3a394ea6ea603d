"""Toolboxes that nobody closes: their servers stop when nobody can use them any more.

In: a toolbox. Out: a `Kept`, to be held by everything that uses the toolbox. When the last holder is
gone, a thread closes the toolbox, so that whoever dropped it does not wait.
"""

from __future__ import annotations

import threading
import weakref

from mcp_adapters._toolbox import Toolbox

__all__ = ("Kept",)


class Kept:
    """Holds a toolbox open for objects that have no end of their own, such as a list of tools.

    Args:
        toolbox: Open, or to be opened. It is closed when the last reference to this object is gone.

    """

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox
        # At the end of the process toolboxes are closed anyway.
        weakref.finalize(self, _stop, toolbox).atexit = False


def _stop(toolbox: Toolbox) -> None:
    threading.Thread(target=toolbox.close, name="mcp-adapters-unused", daemon=True).start()

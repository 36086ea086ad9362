"""Client of domtap: opens tabs, reads them, acts on them, and follows them through lost connections and restarts.

    async with await domtap.connect(start=True) as client:
        tab = await client.open("https://example.com")
        print(await tab.read())
        await tab.act(domtap.click(domtap.named("link", "More information...")))
        async for update in tab.follow():
            ...

domtap.sync has the same without asyncio, domtap.v1 the generated stubs. Errors are DomtapErrors.
"""

from domtap.client import Client, Tab, call, connect
from domtap.errors import DomtapError, Mismatch, StepError, TabGone, Unreachable
from domtap.steps import (
    at,
    check,
    click,
    double_click,
    drag,
    field,
    fill,
    for_change,
    for_element,
    for_gone,
    for_network_idle,
    for_quiet,
    for_text,
    for_url,
    go_back,
    hover,
    label,
    mouse_down,
    mouse_move,
    mouse_up,
    named,
    placeholder,
    press,
    read_text,
    ref,
    scroll,
    select,
    selector,
    take_screenshot,
    test_id,
    text,
    type_text,
    uncheck,
    upload,
    wait_until,
)
from domtap.stream import Update, apply, follow, take

__all__ = [
    "Client", "DomtapError", "Mismatch", "StepError", "Tab", "TabGone", "Unreachable", "Update", "apply", "at", "call", "check",
    "click", "connect", "double_click", "drag", "field", "fill", "follow", "for_change", "for_element", "for_gone",
    "for_network_idle", "for_quiet", "for_text", "for_url", "go_back", "hover", "label", "mouse_down", "mouse_move",
    "mouse_up", "named", "placeholder", "press", "read_text", "ref", "scroll", "select", "selector", "take", "take_screenshot",
    "test_id", "text", "type_text", "uncheck", "upload", "wait_until",
]  # fmt: skip

"""Functions that create targets, steps, form fields and conditions. domtap.v1.action_pb2 and wait_pb2 have all options."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration

from domtap.v1 import action_pb2, wait_pb2
from domtap.v1.action_pb2 import FormField, Step, Target, UploadFile
from domtap.v1.wait_pb2 import WaitCondition


def duration(seconds: float) -> Duration:
    """Converts seconds to a Duration."""
    whole = int(seconds)
    return Duration(seconds=whole, nanos=int((seconds - whole) * 1e9))


def ref(number: int) -> Target:
    """The element with a ref."""
    return Target(ref=number)


def named(role: str, name: str, within: str = "") -> Target:
    """The element with an ARIA role and an accessible name; within: a text of its row, card, group, form or dialog."""
    return Target(role=role, name=name, within=within)


def label(text: str, within: str = "") -> Target:
    """The field with a label."""
    return Target(label=text, within=within)


def text(part: str, within: str = "") -> Target:
    """The element with a visible text, or a part of one."""
    return Target(text=part, within=within)


def placeholder(part: str) -> Target:
    """The field with a placeholder."""
    return Target(placeholder=part)


def test_id(name: str) -> Target:
    """The element with a data-testid, data-test-id, data-test or data-cy."""
    return Target(test_id=name)


test_id.__test__ = False  # type: ignore[attr-defined]  # no test of pytest


def selector(css: str) -> Target:
    """The element that matches a CSS selector."""
    return Target(selector=css)


def at(x: float, y: float) -> Target:
    """The point in CSS pixels of the viewport."""
    return Target(x=x, y=y)


def click(target: Target, *, button: str = "", modifiers: tuple[str, ...] = (), count: int = 1, hold: float = 0) -> Step:
    """Clicks the target. button: left, middle or right; count: 1 to 3 clicks; hold: the seconds to hold the button."""
    held = duration(hold) if hold else None
    return Step(click=action_pb2.ClickStep(target=target, button=button, modifiers=modifiers, count=count, hold=held))


def double_click(target: Target) -> Step:
    """Double-clicks the target."""
    return Step(double_click=action_pb2.DoubleClickStep(target=target))


def hover(target: Target) -> Step:
    """Moves the pointer over the target."""
    return Step(hover=action_pb2.HoverStep(target=target))


def type_text(target: Target | None, typed: str, *, submit: bool = False) -> Step:
    """Types after the existing text, key by key. If the target is None, types into the focused element or the document."""
    return Step(type=action_pb2.TypeStep(target=target, text=typed, submit=submit))


def fill(target: Target, value: str) -> Step:
    """Replaces the value of a field."""
    return Step(fill=action_pb2.FillStep(target=target, text=value))


def press(key: str, target: Target | None = None, *, repeat: int = 0, hold: float = 0) -> Step:
    """Presses a key, such as Enter or Control+a. hold: the seconds to hold the key, which then repeats."""
    held = duration(hold) if hold else None
    return Step(press=action_pb2.PressStep(key=key, target=target, repeat=repeat, hold=held))


def select(target: Target, *options: str) -> Step:
    """Selects options by their values or labels, and deselects the others."""
    return Step(select=action_pb2.SelectStep(target=target, values=options))


def check(target: Target) -> Step:
    """Checks a checkbox, radio button or switch."""
    return Step(check=action_pb2.CheckStep(target=target))


def uncheck(target: Target) -> Step:
    """Unchecks a checkbox or switch."""
    return Step(uncheck=action_pb2.UncheckStep(target=target))


def scroll(target: Target | None = None, *, x: float = 0, y: float = 0) -> Step:
    """Scrolls the target into view or, with a distance in CSS pixels, turns the wheel over the target or the page."""
    return Step(scroll=action_pb2.ScrollStep(target=target, delta_x=x, delta_y=y))


def drag(target: Target, to: Target | None = None, *, x: float = 0, y: float = 0, hold: float = 0) -> Step:
    """Drags the target to another one, or by CSS pixels. hold: the seconds to hold the target before it is moved."""
    held = duration(hold) if hold else None
    return Step(drag=action_pb2.DragStep(target=target, to=to, delta_x=x, delta_y=y, hold=held))


def mouse_down(target: Target | None = None, *, button: str = "", modifiers: tuple[str, ...] = (), hold: float = 0) -> Step:
    """Presses a button on the target, or at the pointer's position without one, and keeps it down for the next steps."""
    held = duration(hold) if hold else None
    return Step(mouse_down=action_pb2.MouseDownStep(target=target, button=button, modifiers=modifiers, hold=held))


def mouse_move(target: Target | None = None, *waypoints: Target, x: float = 0, y: float = 0, moves: int = 0) -> Step:
    """Moves the pointer to the target through waypoints, and then by CSS pixels; without a target, from its position."""
    return Step(mouse_move=action_pb2.MouseMoveStep(target=target, waypoints=waypoints, delta_x=x, delta_y=y, moves=moves))


def mouse_up() -> Step:
    """Releases the button."""
    return Step(mouse_up=action_pb2.MouseUpStep())


def upload(target: Target, *paths: str, files: dict[str, bytes] | None = None) -> Step:
    """Sets the files of a file input: files of this program, at most 4 MiB in total, or paths on the daemon's machine."""
    content = [UploadFile(name=name, content=data) for name, data in (files or {}).items()]
    return Step(upload=action_pb2.UploadStep(target=target, paths=paths, files=content))


def wait_until(condition: WaitCondition, seconds: float = 10) -> Step:
    """Waits within the turn."""
    return Step(wait=action_pb2.WaitStep(until=condition, timeout=duration(seconds)))


def read_text() -> Step:
    """Reads the page within the turn. The step's result has the text."""
    return Step(read=action_pb2.ReadStep())


def take_screenshot() -> Step:
    """Takes a picture within the turn. The step's result has the image."""
    return Step(screenshot=action_pb2.ScreenshotStep())


def go_back() -> Step:
    """Goes back in the history within the turn."""
    return Step(back=action_pb2.BackStep())


def field(label_text: str, value: str) -> FormField:
    """A field of a form, with its label and the value to fill in."""
    return FormField(label=label_text, value=value)


def for_element(role: str, name: str = "") -> WaitCondition:
    """Holds when a visible element has the role, and the name or a part of it."""
    state = wait_pb2.ELEMENT_STATE_VISIBLE
    return WaitCondition(element=wait_pb2.ElementCondition(role=role, name=name, state=state))


def for_gone(role: str, name: str = "") -> WaitCondition:
    """Holds when no element has the role and the name."""
    return WaitCondition(element=wait_pb2.ElementCondition(role=role, name=name, state=wait_pb2.ELEMENT_STATE_GONE))


def for_text(part: str) -> WaitCondition:
    """Holds when the page shows a text, ignoring case."""
    return WaitCondition(text=part)


def for_url(pattern: str) -> WaitCondition:
    """Holds when the URL contains a part. A part with a "*" must match the whole URL."""
    return WaitCondition(url=pattern)


def for_network_idle(seconds: float = 0.5) -> WaitCondition:
    """Holds when no request was in progress for a time. To cover the requests of a step, wait in the same turn."""
    return WaitCondition(network_idle=duration(seconds))


def for_quiet(seconds: float) -> WaitCondition:
    """Holds when elements and texts did not change for a time."""
    return WaitCondition(quiet=duration(seconds))


def for_change() -> WaitCondition:
    """Holds when anything changed since the wait began."""
    return WaitCondition(change=True)

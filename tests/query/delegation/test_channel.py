"""Messages, and handlers that stop, hang, or say something else."""

from __future__ import annotations

import struct
import sys
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.query.delegation import HandlerError, HandlerProcess, SameProcess, delegate
from tabprotect.query.delegation.handler import Handler, serve
from tabprotect.query.delegation.wire import Message, read_message, write_message
from tests.quick import examples

DATA = {"a": [3], "b": [4]}


@settings(max_examples=examples(12, 30))
@given(
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9), max_size=3),
    st.lists(st.binary(max_size=20), max_size=3),
)
def test_messages_arrive_as_sent(header: dict[str, Any], blobs: list[bytes]) -> None:
    stream = BytesIO()
    for _ in range(2):
        write_message(stream, Message(header, tuple(blobs)))
    stream.seek(0)
    assert [read_message(stream), read_message(stream)] == [Message(header, tuple(blobs))] * 2
    assert read_message(stream) is None


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"hello", "no message"),
        (b"TPD0" + bytes(8), "no message"),
        (b"TPD1" + struct.pack(">II", 2**31, 0), "too large"),
        (b"TPD1" + struct.pack(">II", 2, 2**31), "too large"),
        (b"TPD1" + struct.pack(">IIQ", 2, 1, 2**62) + b"{}", "at most 1000 were expected"),
        (b"TPD1" + struct.pack(">II", 20, 0) + b"{}", "ended early"),
        (b"TPD1" + struct.pack(">II", 2, 0) + b"{{", "no JSON"),
        (b"TPD1" + struct.pack(">II", 2, 0) + b"[]", "no JSON object"),
        (b"TPD1" + struct.pack(">II", 2, 0) + b"\xff\xff", "no JSON"),
        (b"TPD1" + struct.pack(">II", 100_000, 0) + b"[" * 100_000, "no JSON"),
    ],
)
def test_anything_else_is_refused(raw: bytes, said: str) -> None:
    with pytest.raises(HandlerError, match=said):
        read_message(BytesIO(raw), most=1000)


def script(text: str) -> HandlerProcess:
    """A handler process that runs a few lines of Python."""
    return HandlerProcess([sys.executable, "-c", text], timeout=20)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise SystemExit('no licence')", r"stopped without an answer \(exit code 1\): no licence"),
        ("print('Welcome to the handler', flush=True); input()", "no message of the delegation protocol"),
        ("import sys; sys.stdout.write('TPD1'); sys.stdout.flush()", "it begins with b'TPD1'"),
    ],
)
def test_processes_that_are_no_handlers(text: str, said: str) -> None:
    with script(text) as handler, pytest.raises(HandlerError, match=said):
        delegate("a*b", DATA, (0, 9), handler=handler)


def test_handler_that_hangs_is_stopped() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    late = pytest.raises(HandlerError, match=r"no answer within 0\.3 s")
    with HandlerProcess(command, timeout=0.3) as handler, late:
        delegate("a*b", DATA, (0, 9), handler=handler)


def test_programs_that_do_not_exist() -> None:
    with pytest.raises(InputError, match="'/no/such/program' cannot be started"):
        HandlerProcess(["/no/such/program"])
    with pytest.raises(InputError, match="sequence of program and arguments"):
        HandlerProcess("python -m handler")
    with pytest.raises(InputError, match="timeout must be"):
        HandlerProcess(timeout=0)


class Altered(SameProcess):
    """Changes the answers to questions."""

    def __init__(self, change: Any) -> None:
        super().__init__()
        self.change = change

    def exchange(self, message: Message, most: int) -> Message:
        reply = super().exchange(message, most)
        return self.change(reply) if message.kind == "evaluate" else reply  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda reply: Message(reply.header, reply.blobs[:-1]), "0 ciphertexts where 1 were asked for"),
        (lambda reply: Message({"kind": "ready"}), "answered 'ready' where 'result' was expected"),
        (lambda reply: Message({"kind": "error", "reason": "out of memory"}), "reports an error: out of memory"),
        (lambda reply: Message({}), "answered '' where"),
    ],
)
def test_answers_of_another_form(change: Any, said: str) -> None:
    with pytest.raises(HandlerError, match=said):
        delegate("a + b", {"a": [1], "b": [2]}, (0, 9), handler=Altered(change), products=False)


@pytest.mark.parametrize("blob", [b"", b"nothing", bytes(100_000)])
def test_answers_that_are_no_ciphertexts_are_refused(blob: bytes) -> None:
    found = delegate(
        "a + b", {"a": [1], "b": [2]}, (0, 9), handler=Altered(lambda r: Message(r.header, (blob,))), products=False
    )
    assert found.values is None
    assert [finding.check.name for finding in found.answers[0].findings] == ["READABLE"]


def test_handler_reports_what_it_does_not_understand() -> None:
    source, target = BytesIO(), BytesIO()
    write_message(source, Message({"kind": "decrypt"}))
    write_message(source, Message({"kind": "evaluate", "expression": "a / b", "products": []}))
    write_message(source, Message({"kind": "evaluate"}))
    source.seek(0)
    serve(Handler(), source, target)
    target.seek(0)
    reasons = [reply.header["reason"] for _ in range(3) if (reply := read_message(target)) is not None]
    assert reasons[0] == "a message of kind 'decrypt' is not understood"
    assert "only +, -, * and **" in reasons[1]
    assert reasons[2] == "KeyError: 'expression'"

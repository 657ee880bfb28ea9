"""What leaves the owner: parameters, relinearisation keys, ciphertexts, expressions. Nothing else."""

from __future__ import annotations

import json
import re
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tenseal as ts

from tabprotect.query.delegation import HandlerProcess, SameProcess, delegate
from tabprotect.query.delegation.inputs import lay_out
from tabprotect.query.delegation.keys import Keys
from tabprotect.query.delegation.wire import Message, read_message, write_message

DATA = {"a": [31337, 5, 7], "b": [27182, 3, 9]}
BOUNDS = (0, 50_000)


class Recording(SameProcess):
    """Keeps every message as the bytes that leave."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []

    def exchange(self, message: Message, most: int) -> Message:
        stream = BytesIO()
        write_message(stream, message)
        self.sent.append(stream.getvalue())
        return super().exchange(message, most)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Keys]:
    """The keys that are made, which only a test gets hold of."""
    found: list[Keys] = []
    begin = Keys.__init__

    def remember(self: Keys, *given: Any) -> None:
        begin(self, *given)
        found.append(self)

    monkeypatch.setattr(Keys, "__init__", remember)
    return found


def messages(channel: Recording) -> list[Message]:
    return [message for raw in channel.sent if (message := read_message(BytesIO(raw))) is not None]


def test_handler_gets_contexts_without_secret_key_and_cannot_decrypt() -> None:
    channel = Recording()
    found = delegate("a*b + a", DATA, BOUNDS, handler=channel)
    assert found.values is not None
    keys, inputs, question = messages(channel)
    for blob in keys.blobs:
        context = ts.context_from(blob)
        assert context.is_public()
        assert not context.is_private()
        assert not context.has_secret_key()
        with pytest.raises(ValueError, match="encryption"):  # no key that encrypts either
            ts.bfv_vector(context, [1])
    contexts = [ts.context_from(blob) for blob in keys.blobs]
    for i, blob in enumerate(inputs.blobs):
        vector = ts.bfv_vector_from(contexts[i % len(contexts)], blob)
        with pytest.raises(ValueError, match="secret_key"):
            vector.decrypt()
    assert question.blobs == ()


def test_no_message_contains_the_secret_key_or_the_data(made: list[Keys], tmp_path: Path) -> None:
    channel = Recording()
    delegate("a*b + a", DATA, BOUNDS, handler=channel)
    traffic = b"".join(channel.sent)
    for context in made[0]._contexts:
        path = tmp_path / "secret"
        context.secret_key().data.save(str(path))
        secret = path.read_bytes()
        assert len(secret) > 500
        pieces = [secret[i : i + 32] for i in range(64, len(secret) - 32, 97)]
        assert not any(piece in traffic for piece in pieces)
        assert any(piece in context.serialize(save_secret_key=True, save_public_key=False) for piece in pieces)
    headers = json.dumps([message.header for message in messages(channel)])
    numbers = set(map(int, re.findall(r"\d+", headers)))
    assert not numbers & {31337, 27182}


def test_what_the_process_reads_is_what_was_inspected(made: list[Keys], tmp_path: Path) -> None:
    copy = tmp_path / "read"
    command = f"tee {copy} | {sys.executable} -m tabprotect.query.delegation"
    with HandlerProcess(["sh", "-c", command]) as handler:
        found = delegate("a*b + a", DATA, BOUNDS, handler=handler)
    assert found.values is not None
    with copy.open("rb") as stream:
        read = list(iter(lambda: read_message(stream), None))
    assert [message.kind for message in read] == ["keys", "inputs", "evaluate"]
    assert not any(ts.context_from(blob).has_secret_key() for blob in read[0].blobs)
    assert sum(len(blob) for message in read for blob in message.blobs) == found.sent
    # whoever reads it gets nothing; the keys of the owner open it
    opened = made[0].decrypt(read[1].blobs[0], 0)
    assert opened.values is not None
    modulus = found.parameters.moduli[0]
    assert {value % modulus for value in DATA["a"]} <= set(opened.values.tolist())


def test_headers_hold_nothing_but_expressions_and_sizes() -> None:
    channel = Recording()
    found = delegate("a*b + 3*a", DATA, BOUNDS, handler=channel)
    own = found.parameters
    assert [message.header for message in messages(channel)] == [
        {"kind": "keys", "ring": own.ring, "moduli": list(own.moduli)},
        {"kind": "inputs", "names": ["a", "b"], "blocks": 1},
        {"kind": "evaluate", "expression": "3*a + a*b", "products": ["a", "a*b"]},
    ]


def test_parameters_depend_on_declared_bounds_and_not_on_data() -> None:
    first = delegate("a*b", {"a": [0], "b": [1]}, BOUNDS, handler=SameProcess())
    second = delegate("a*b", {"a": [50_000], "b": [50_000]}, BOUNDS, handler=SameProcess())
    assert first.parameters == second.parameters


def test_number_of_ciphertexts_says_nothing_of_few_records() -> None:
    sizes = set()
    for records in (1, 700):
        channel = Recording()
        delegate("a*b", {"a": [3] * records, "b": [2] * records}, BOUNDS, handler=channel)
        keys, inputs, _ = messages(channel)
        sizes.add((len(keys.blobs), len(inputs.blobs)))
    assert len(sizes) == 1


def test_equal_values_have_different_ciphertexts_and_keys_are_fresh(made: list[Keys]) -> None:
    channel = Recording()
    for _ in range(2):
        delegate("a + b", {"a": [5], "b": [5]}, BOUNDS, handler=channel, seed=3)
    first, second = (message.blobs for message in messages(channel) if message.kind == "inputs")
    assert len({*first, *second}) == len(first) + len(second)
    opened = made[1].decrypt(first[0], 0)
    assert opened.budget == 0


def test_linear_expressions_need_no_relinearisation_keys() -> None:
    channel = Recording()
    delegate("a + 2*b", DATA, BOUNDS, handler=channel)
    assert sum(map(len, messages(channel)[0].blobs)) < 1000


def test_check_points_are_at_other_positions_each_time() -> None:
    layouts = [lay_out(5000, 16, 4096, np.random.default_rng(seed)) for seed in range(2)]
    for layout in layouts:
        assert layout.blocks == 2
        for records, points in zip(layout.records, layout.points, strict=True):
            assert len(points) == 16
            assert len(set(records) | set(points)) == len(records) + 16
        assert sum(map(len, layout.records)) == 5000
    assert set(layouts[0].points[0]) != set(layouts[1].points[0])


def test_by_default_every_slot_without_a_record_is_a_check_point() -> None:
    for records, blocks in [(3, 1), (4080, 1), (4081, 2), (9000, 3)]:
        layout = lay_out(records, None, 4096, np.random.default_rng(1))
        assert layout.blocks == blocks
        for own, points in zip(layout.records, layout.points, strict=True):
            assert sorted([*own, *points]) == list(range(4096))
            assert len(points) >= 16

"""The encoding: round trips, one form for each value, and nothing but `WireError` from bad bytes."""

import contextlib
import gc
import struct
import tracemalloc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from coterie.protocols.messaging.wire import WireError, decode, encode, size_of

DTYPES = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"]

arrays = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(
        dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
    )
)
plain = st.binary(max_size=40) | st.integers() | st.text(max_size=20)
values = st.recursive(plain | arrays, lambda inner: st.lists(inner, max_size=4), max_leaves=8)


def body(*items) -> bytearray:
    return bytearray().join(encode(items))


def same(a, b) -> bool:
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and a.shape == b.shape
            and a.dtype.newbyteorder("=") == b.dtype.newbyteorder("=")
            and a.astype(a.dtype.newbyteorder("<")).tobytes() == b.tobytes()
        )
    if isinstance(a, list | tuple):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


@given(st.lists(values, max_size=4))
def test_values_come_back_as_they_were(items):
    data = body(*items)
    assert len(data) == size_of(encode(items))
    assert same(items, decode(data))


@given(st.lists(values, max_size=3))
def test_equal_values_have_equal_bytes(items):
    assert body(*items) == body(*decode(body(*items)))


@pytest.mark.parametrize("number", [0, 1, -1, 255, 256, -256, 2**63, -(2**64), 2**4096 + 1])
def test_integers_of_any_size(number):
    assert decode(body(number)) == [number]


@pytest.mark.parametrize("scalar", [np.uint8(7), np.int64(-3), np.uint64(2**63)])
def test_numpy_integers_become_integers(scalar):
    [back] = decode(body(scalar))
    assert type(back) is int
    assert back == int(scalar)


def test_array_views_of_any_layout_are_sent_in_row_order():
    base = np.arange(24, dtype=np.int32).reshape(4, 6)
    for array in (base.T, base[::2, ::-1], base[:, 3], np.asfortranarray(base), base[1, 2]):
        array = np.asarray(array)
        [back] = decode(body(array))
        assert back.dtype == np.int32
        assert np.array_equal(back, array)
        assert back.shape == array.shape


def test_big_endian_arrays_arrive_little_endian_with_the_same_values():
    for dtype in (">u2", ">i4", ">u8", ">f4", ">f8"):
        array = np.array([[1, 2, 300]], dtype)
        [back] = decode(body(array))
        assert np.array_equal(back, array)
        assert back.dtype.str == dtype.replace(">", "<")


def test_zero_dimensional_and_empty_arrays_keep_their_shape():
    for array in (np.array(True), np.array(3.5), np.empty((0,), "u4"), np.empty((3, 0, 2), "?")):
        [back] = decode(body(array))
        assert back.shape == array.shape
        assert back.dtype == array.dtype
        assert np.array_equal(back, array)


def test_bytes_like_objects_become_bytes():
    wide = memoryview(np.arange(3, dtype="<u4"))
    assert decode(body(bytearray(b"ab"), memoryview(b"abcd")[::2], wide)) == [
        b"ab",
        b"ac",
        np.arange(3, dtype="<u4").tobytes(),
    ]


def test_long_bytes_and_arrays_are_referred_to_and_not_copied():
    data, array = bytes(1 << 20), np.zeros(1 << 17)
    tracemalloc.start()
    try:
        buffers = encode([data, array])
        assert tracemalloc.get_traced_memory()[1] < 1 << 16
    finally:
        tracemalloc.stop()
    assert size_of(buffers) > 2 << 20


def test_messages_are_freed_without_the_garbage_collector():
    gc.disable()
    try:
        array = np.zeros(1 << 16)
        data = body(array, [[b"x" * 5000]])
        alive = [weakref.ref(array)]
        encode([array, [array]])
        decoded = decode(data)
        alive.append(weakref.ref(decoded[0]))
        del array, decoded
        assert [ref() for ref in alive] == [None, None]
        data += b"x"  # no view holds it any more
    finally:
        gc.enable()


def test_decoded_arrays_are_aligned_views_that_cannot_be_changed():
    data = body(b"x", np.arange(5, dtype="f8"), "y", np.arange(3, dtype="u8"))
    for array in decode(data)[1::2]:
        assert not array.flags.writeable
        assert array.flags.aligned
        assert np.shares_memory(array, np.frombuffer(data, np.uint8))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (True, "bool"),
        (None, "NoneType"),
        (1.5, "float"),
        (np.float64(1), "float64"),
        (np.bool_(True), "bool"),
        ({}, "dict"),
        ({1}, "set"),
        ("\ud800", "surrogate"),
        (np.array(["a"]), "<U1"),
        (np.array([1], object), "object"),
        (np.array([1j]), "complex"),
        (np.zeros(1, "f2"), "float16"),
        (np.zeros(1, "M8[s]"), "datetime"),
        (np.zeros(1, [("a", "u1")]), "dimensions"),
        (np.zeros((1,) * 9), "9 dimensions"),
    ],
)
def test_a_value_without_an_encoding_is_refused(value, why):
    with pytest.raises(WireError, match=why):
        encode([value])


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def test_lists_nest_to_sixteen_and_no_deeper():
    assert decode(body(nested(16))) == [nested(16)]
    with pytest.raises(WireError, match="deeper"):
        encode([nested(17)])
    with pytest.raises(WireError, match="deeper"):
        decode((b"\x05" + struct.pack("<Q", 1)) * 1000)


def u64(n):
    return struct.pack("<Q", n)


BAD = {
    "unknown tag": b"\x06",
    "tag zero": b"\x00",
    "length beyond the end": b"\x01" + u64(2**63) + b"abc",
    "length cut off": b"\x01\x00\x00",
    "string that is not UTF-8": b"\x03" + u64(1) + b"\xff",
    "string that encodes a surrogate": b"\x03" + u64(3) + b"\xed\xa0\x80",
    "integer with a leading zero byte": b"\x02\x00" + u64(2) + b"\x01\x00",
    "negative zero": b"\x02\x01" + u64(0),
    "sign of two": b"\x02\x02" + u64(1) + b"\x01",
    "integer beyond the end": b"\x02\x00" + u64(2**40) + b"\x01",
    "list count beyond the end": b"\x05" + u64(2**62),
    "list that ends early": b"\x05" + u64(2) + b"\x02\x00" + u64(0),
    "array of an unknown type": b"\x04\x0b\x01" + u64(1) + bytes(40),
    "array of nine dimensions": b"\x04\x01\x09" + u64(1) * 9 + bytes(40),
    "array larger than the rest": b"\x04\x04\x01" + u64(2**61) + bytes(40),
    "array whose size overflows 64 bits": b"\x04\x04\x03" + u64(2**40) * 3 + bytes(40),
    "array dimension of 2^63": b"\x04\x01\x02" + u64(0) + u64(2**63) + bytes(40),
    "empty array of impossible shape": b"\x04\x04\x03" + u64(0) + u64(2**62) * 2 + bytes(40),
    "padding that is not zero": b"\x04\x01\x01" + u64(1) + b"\x01" * 5 + b"\x07",
    "boolean of two": b"\x04\x00\x01" + u64(1) + bytes(5) + b"\x02",
}


@pytest.mark.parametrize("name", BAD)
def test_bytes_that_no_encoder_writes_are_refused(name):
    with pytest.raises(WireError):
        decode(bytearray(BAD[name]))


@pytest.mark.parametrize("count", range(0, 60, 3))
def test_a_body_that_is_cut_is_refused_or_holds_fewer_values(count):
    items = [b"abc", 12345, "text", np.arange(3, dtype="u2")]
    data = body(*items)
    with contextlib.suppress(WireError):
        assert same(items[: len(decode(data[:count]))], decode(data[:count]))


@settings(max_examples=400)
@given(st.lists(values, min_size=1, max_size=3), st.data())
def test_mutated_bytes_raise_wire_error_or_are_a_valid_body_in_bounded_memory(items, data):
    mutated = body(*items)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(mutated)))
        change = data.draw(st.sampled_from(["flip", "insert", "delete", "long"]))
        if change == "flip" and at < len(mutated):
            mutated[at] ^= data.draw(st.integers(1, 255))
        elif change == "insert":
            mutated[at:at] = data.draw(st.binary(min_size=1, max_size=9))
        elif change == "delete":
            del mutated[at : at + data.draw(st.integers(1, 9))]
        else:
            mutated[at : at + 8] = b"\xff" * 8
    check_bounded(mutated)


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_random_bytes_raise_wire_error_or_are_a_valid_body_in_bounded_memory(data):
    check_bounded(bytearray(data))


def check_bounded(data: bytearray) -> None:
    tracemalloc.start()
    try:
        try:
            back = decode(data)
        except WireError:
            back = None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000 + 20 * len(data)
    if back is not None:  # whatever is accepted is in its one form
        assert body(*back) == data


@pytest.mark.parametrize(
    "item",
    [b"\x05" + u64(0), b"\x02\x00" + u64(1) + b"\x7f", b"\x01" + u64(2) + b"ab"],
    ids=["empty lists", "integers", "bytes"],
)
def test_a_list_takes_memory_in_proportion_to_its_bytes(item):
    count = 50_000
    data = bytearray(b"\x05" + u64(count) + item * count)
    check_bounded(data)


def test_a_list_of_tiny_arrays_takes_memory_in_proportion_to_its_bytes():
    check_bounded(body([np.zeros((), "u1")] * 20_000))

"""ristretto255 against RFC 9496, RFC 9380 and RFC 9497; the cipher against RFC 9380 and RFC 7748."""

import hashlib
import sys
from pathlib import Path

import numpy as np
import pytest

from coterie.protocols.primitives import cipher, group
from coterie.protocols.primitives.group import InvalidElementError
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.sodium import digests, expand_message_xmd, row_digests


def rows(*texts: str) -> np.ndarray:
    return np.array([list(bytes.fromhex(text)) for text in texts], np.uint8)


# RFC 9496, appendix A.1: multiples 0 to 15 of the generator.
MULTIPLES = rows(
    "0000000000000000000000000000000000000000000000000000000000000000",
    "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76",
    "6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919",
    "94741f5d5d52755ece4f23f044ee27d5d1ea1e2bd196b462166b16152a9d0259",
    "da80862773358b466ffadfe0b3293ab3d9fd53c5ea6c955358f568322daf6a57",
    "e882b131016b52c1d3337080187cf768423efccbb517bb495ab812c4160ff44e",
    "f64746d3c92b13050ed8d80236a7f0007c3b3f962f5ba793d19a601ebb1df403",
    "44f53520926ec81fbd5a387845beb7df85a96a24ece18738bdcfa6a7822a176d",
    "903293d8f2287ebe10e2374dc1a53e0bc887e592699f02d077d5263cdd55601c",
    "02622ace8f7303a31cafc63f8fc48fdc16e1c8c8d234b2f0d6685282a9076031",
    "20706fd788b2720a1ed2a5dad4952b01f413bcf0e7564de8cdc816689e2db95f",
    "bce83f8ba5dd2fa572864c24ba1810f9522bc6004afe95877ac73241cafdab42",
    "e4549ee16b9aa03099ca208c67adafcafa4c3f3e4e5303de6026e3ca8ff84460",
    "aa52e000df2e16f55fb1032fc33bc42742dad6bd5a8fc0be0167436c5948501f",
    "46376b80f409b29dc2b5f6f0c52591990896e5716f41477cd30085ab7f10301e",
    "e0c418f7c8d9c4cdd7395b93ea124f3ad99021bb681dfc3302a9d99a2e53e64e",
)
# RFC 9496, appendix A.2: what encodes no element.
NO_ELEMENTS = {
    "not canonical": rows(
        "00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ),
    "negative": rows(
        "0100000000000000000000000000000000000000000000000000000000000000",
        "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ed57ffd8c914fb201471d1c3d245ce3c746fcbe63a3679d51b6a516ebebe0e20",
        "c34c4e1826e5d403b78e246e88aa051c36ccf0aafebffe137d148a2bf9104562",
        "c940e5a4404157cfb1628b108db051a8d439e1a421394ec4ebccb9ec92a8ac78",
        "47cfc5497c53dc8e61c91d17fd626ffb1c49e2bca94eed052281b510b1117a24",
        "f1c6165d33367351b0da8f6e4511010c68174a03b6581212c71c0e1d026c3c72",
        "87260f7a2f12495118360f02c26a470f450dadf34a413d21042b43b9d93e1309",
    ),
    "no square": rows(
        "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371",
        "4eac077a713c57b4f4397629a4145982c661f48044dd3f96427d40b147d9742f",
        "de6a7b00deadc788eb6b6c8d20c0ae96c2f2019078fa604fee5b87d6e989ad7b",
        "bcab477be20861e01e4a0e295284146a510150d9817763caf1a6f4b422d67042",
        "2a292df7e32cababbd9de088d1d1abec9fc0440f637ed2fba145094dc14bea08",
        "f4a9e534fc0d216c44b218fa0c42d99635a0127ee2e53c712f70609649fdff22",
        "8268436f8c4126196cf64b3c7ddbda90746a378625f9813dd9b8457077256731",
        "2810e5cbc2cc4d4eece54f61c6f69758e289aa7ab440b3cbeaa21995c2f4232b",
    ),
    "negative product": rows(
        "3eb858e78f5a7254d8c9731174a94f76755fd3941c0ac93735c07ba14579630e",
        "a45fdc55c76448c049a1ab33f17023edfb2be3581e9c7aade8a6125215e04220",
        "d483fe813c6ba647ebbfd3ec41adca1c6130c2beeee9d9bf065c8d151c5f396e",
        "8a2e1d30050198c65a54483123960ccc38aef6848e1ec8f5f780e8523769ba32",
        "32888462f8b486c68ad7dd9610be5192bbeaf3b443951ac1a8118419d9fa097b",
        "227142501b9d4355ccba290404bde41575b037693cef1f438c47f8fbf35d1165",
        "5c37cc491da847cfeb9281d407efc41e15144c876e0170b499a96a22ed31e01e",
        "445425117cb8c90edcbc7c1cc0e74f747f2c1efa5630a967c64f287792a48a4b",
    ),
    "y is zero": rows("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    "identity": rows("00" * 32),
}
# RFC 9496, appendix A.3: the inputs are SHA-512 of these sentences.
SENTENCES = {
    "Ristretto is traditionally a short shot of espresso coffee": "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46",
    "made with the normal amount of ground coffee but extracted with": "f26e5b6f7d362d2d2a94c5d0e7602cb4773c95a2e5c31a64f133189fa76ed61b",
    "about half the amount of water in the same amount of time": "006ccd2a9e6867e6a2c5cea83d3302cc9de128dd2a9a57dd8ee7b9d7ffe02826",
    "by using a finer grind.": "f8f0c87cf237953c5890aec3998169005dae3eca1fbb04548c635953c817f92a",
    "This produces a concentrated shot of coffee per volume.": "ae81e7dedf20a497e10c304a765c1767a42d6e06029758d2d7e8ef7cc4c41179",
    "Just pulling a normal shot short will produce a weaker shot": "e2705652ff9f5e44d3e841bf1c251cf7dddb77d140870d1ab2ed64f1a9ce8628",
    "and is not a Ristretto as some believe.": "80bd07262511cdde4863f8a7434cef696750681cb9510eea557088f76d9e5065",
}
ONE_ELEMENT_FROM_FOUR_INPUTS = rows(
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "1200000000000000000000000000000000000000000000000000000000000000",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "0000000000000000000000000000000000000000000000000000000000000080"
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000"
    "1200000000000000000000000000000000000000000000000000000000000080",
)


def message(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8).reshape(1, -1)


def test_multiples_of_the_generator_are_those_of_rfc_9496():
    for k in range(1, 16):
        product = group.multiply(k.to_bytes(32, "little"), MULTIPLES[1:2])
        assert (product == MULTIPLES[k]).all()
    assert group.valid(MULTIPLES).tolist() == [False] + [True] * 15


@pytest.mark.parametrize("kind", NO_ELEMENTS)
def test_what_rfc_9496_calls_no_element_is_refused(kind):
    bad = NO_ELEMENTS[kind]
    assert not group.valid(bad).any()
    for row in bad:
        batch = np.stack([MULTIPLES[1], MULTIPLES[2], row, MULTIPLES[3]])
        with pytest.raises(InvalidElementError) as caught:
            group.multiply((5).to_bytes(32, "little"), batch)
        assert caught.value.index == 2


def test_elements_are_derived_as_in_rfc_9496():
    inputs = rows(*(hashlib.sha512(text.encode()).hexdigest() for text in SENTENCES))
    assert (group.derive(inputs) == rows(*SENTENCES.values())).all()
    four = group.derive(ONE_ELEMENT_FROM_FOUR_INPUTS)
    expected = "304282791023b73128d277bdcb5c7746ef2eac08dde9f2983379cb8e5ef0517f"
    assert {row.tobytes().hex() for row in four} == {expected}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", "6b9a7312411d92f921c6f68ca0b6380730a1a4d982c507211a90964c394179ba"),
        (b"abc", "0da749f12fbe5483eb066a5f595055679b976e93abe9be6f0f6318bce7aca8dc"),
        (b"abcdef0123456789", "087e45a86e2939ee8b91100af1583c4938e0f5fc6c9db4b107b83346bc967f58"),
    ],
)
def test_messages_expand_as_in_rfc_9380_appendix_k3(text, expected):
    out = expand_message_xmd(message(text), b"QUUX-V01-CS02-with-expander-SHA512-256", 32)
    assert out.tobytes().hex() == expected


@pytest.mark.parametrize(
    ("text", "blinded", "evaluated"),
    [
        (
            "00",
            "609a0ae68c15a3cf6903766461307e5c8bb2f95e7e6550e1ffa2dc99e412803c",
            "7ec6578ae5120958eb2db1745758ff379e77cb64fe77b0b2d8cc917ea0869c7e",
        ),
        (
            "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a",
            "da27ef466870f5f15296299850aa088629945a17d1f5b7f5ff043f76b3c06418",
            "b4cbf5a4f1eeda5a63ce7b77c7d23f461db3fcab0dd28e4e17cecb5c90d02c25",
        ),
    ],
)
def test_the_oblivious_prf_of_rfc_9497_appendix_a11_comes_out(text, blinded, evaluated):
    blind = bytes.fromhex("64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706")
    key = bytes.fromhex("5ebcea5ee37023ccb9fc2d2019f9d7737be85591ae8652ffa9ef0f4d37063b0e")
    tag = b"HashToGroup-OPRFV1-\x00-ristretto255-SHA512"
    hashed = group.hash_to_group(message(bytes.fromhex(text)), tag)
    sent = group.multiply(blind, hashed)
    assert sent.tobytes().hex() == blinded
    back = group.multiply(key, sent)
    assert back.tobytes().hex() == evaluated
    assert (group.multiply(group.invert_scalar(blind), back) == group.multiply(key, hashed)).all()


# RFC 9380, appendix J.4.2: message, field element u, and the first coordinates of Q and of P = 8 Q.
ENCODED = [
    (
        b"",
        "608d892b641f0328523802a6603427c26e55e6f27e71a91a478148d45b5093cd",
        "51125222da5e763d97f3c10fcc92ea6860b9ccbbd2eb1285728f566721c1e65b",
        "1bb913f0c9daefa0b3375378ffa534bda5526c97391952a7789eb976edfe4d08",
    ),
    (
        b"abc",
        "46f5b22494bfeaa7f232cc8d054be68561af50230234d7d1d63d1d9abeca8da5",
        "7d56d1e08cb0ccb92baf069c18c49bb5a0dcd927eff8dcf75ca921ef7f3e6eeb",
        "7c22950b7d900fa866334262fcaea47a441a578df43b894b4625c9b450f9a026",
    ),
    (
        b"abcdef0123456789",
        "235fe40c443766ce7e18111c33862d66c3b33267efa50d50f9e8e5d252a40aaa",
        "3fbe66b9c9883d79e8407150e7c2a1c8680bee496c62fabe4619a72b3cabe90f",
        "31ad08a8b0deeb2a4d8b0206ca25f567ab4e042746f792f4b7973f3ae2096c52",
    ),
    (
        b"q128_" + b"q" * 128,
        "001e92a544463bda9bd04ddbe3d6eed248f82de32f522669efc5ddce95f46f5b",
        "227e0bb89de700385d19ec40e857db6e6a3e634b1c32962f370d26f84ff19683",
        "027877759d155b1997d0d84683a313eb78bdb493271d935b622900459d52ceaa",
    ),
]


@pytest.mark.parametrize(("text", "u", "q", "p"), ENCODED)
def test_hashing_to_curve25519_is_encode_to_curve_of_rfc_9380(text, u, q, p):
    tag = b"QUUX-V01-CS02-with-curve25519_XMD:SHA-512_ELL2_NU_"
    assert (cipher.map_to_curve(rows(u))[0, ::-1] == rows(q)[0]).all()
    hashed = cipher.hash_to_curve(message(text), tag)
    assert hashed[0, ::-1].tobytes().hex() == q
    # X25519 cannot multiply by 8 alone: its keys have bit 254 set.
    assert p == f"{ladder(8, int(q, 16)):064x}"


def ladder(k: int, u: int) -> int:
    """A Montgomery ladder with Python integers: what libsodium is compared with."""
    prime = 2**255 - 19
    x2, z2, x3, z3 = 1, 0, u, 1
    for bit in f"{k:b}":
        if bit == "1":
            x2, z2, x3, z3 = x3, z3, x2, z2
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        x3, z3 = (d * a + c * b) ** 2 % prime, u * (d * a - c * b) ** 2 % prime
        x2, z2 = a * a * b * b % prime, (4 * x2 * z2) * (a * a + 121665 * 4 * x2 * z2) % prime
        if bit == "1":
            x2, z2, x3, z3 = x3, z3, x2, z2
    return x2 * pow(z2, -1, prime) % prime


def test_the_cipher_is_x25519_of_rfc_7748():
    scalar = "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"
    point = rows("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")
    out = cipher.encrypt(bytes.fromhex(scalar), point)
    expected = "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
    assert out.tobytes().hex() == expected


def test_the_cipher_multiplies_hashed_points_and_commutes():
    rng = Random(3)
    a, b = cipher.random_key(rng), cipher.random_key(rng)
    messages = rng.array((20, 16), np.uint8)
    hashed = cipher.hash_to_curve(messages)
    cipher.check(hashed)
    once = cipher.encrypt(a, hashed)
    cipher.check(once)
    assert (once == cipher.hash_and_encrypt(a, messages)).all()
    assert (cipher.encrypt(b, once) == cipher.encrypt(a, cipher.encrypt(b, hashed))).all()
    key = int.from_bytes(a, "little") & (2**254 - 8) | 2**254
    for row, out in zip(hashed, once, strict=True):
        assert int.from_bytes(out.tobytes(), "little") == ladder(
            key, int.from_bytes(row.tobytes(), "little")
        )


ON_THE_TWIST = 2  # 2 (4 + 2 A + 1) is no square modulo p
NO_POINTS = {
    "zero": 0,
    "order four": 1,
    "order eight": 325606250916557431795983626356110631294008115727848805560023387167927233504,
    "on the twist": ON_THE_TWIST,
    "not canonical": 2**255 - 19 + 9,
    "highest bit set": 9 + 2**255,
}


@pytest.mark.parametrize("kind", NO_POINTS)
def test_what_is_no_point_of_the_curve_is_refused(kind):
    good = cipher.hash_to_curve(Random(1).array((3, 16), np.uint8))
    batch = good.copy()
    batch[1] = np.frombuffer(NO_POINTS[kind].to_bytes(32, "little"), np.uint8)
    with pytest.raises(InvalidElementError) as caught:
        cipher.check_and_encrypt(cipher.random_key(Random(2)), batch)
    assert caught.value.index == 1


def test_hashed_values_never_land_on_the_twist():
    cipher.check(cipher.hash_to_curve(Random(5).array((500, 16), np.uint8)))


def test_digests_are_those_of_hashlib():
    words = [b"", b"a", "ß".encode(), b"x" * 300]
    data = np.frombuffer(b"".join(words), np.uint8)
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    key = bytes(range(32))
    for word, digest in zip(words, digests(data, offsets, key), strict=True):
        plain = hashlib.blake2b(word, digest_size=16, salt=key[:16], person=key[16:])
        assert digest.tobytes() == plain.digest()
    block = Random(1).array((3, 64), np.uint8)
    for row, digest in zip(block, row_digests(block, 32), strict=True):
        assert digest.tobytes() == hashlib.blake2b(row.tobytes(), digest_size=32).digest()


def test_the_library_leaves_no_temporary_file():
    assert not Path(vars(sys.modules["rbcl._sodium"])["lib_path"]).exists()

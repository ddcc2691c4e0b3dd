"""Byte strings that a line may bring: frames whole, cut, bent and glued, stops and pieces of them, noise."""

from firmware_bridge.codec import MAX_PAYLOAD, STOP, Frame, FrameDecoder, StopWatch, encode

KINDS = (*range(1, 12), 0x81, 0x84, 0x88)


def frame(rng):
    """A good frame, of any length."""
    size = rng.choice((0, 1, 4, 9, 13, 20, 40, MAX_PAYLOAD, rng.randint(0, MAX_PAYLOAD)))
    payload = rng.choice((rng.randbytes(size), bytes(size), b"\xff" * size))
    return encode(Frame(rng.choice(KINDS), rng.randrange(256), rng.randrange(1 << 16), payload))


def noise(rng):
    """Anything, zeros and long runs more often than by chance."""
    pick = rng.randrange(4)
    if pick == 0:
        return rng.randbytes(rng.randint(0, 60))
    if pick == 1:
        return bytes(rng.choice((0, 0, 1, 2, 3, 0xFF)) for _ in range(rng.randint(0, 30)))
    if pick == 2:
        return bytes([rng.randint(1, 255)]) * rng.randint(100, 260)
    return rng.choice((STOP, STOP[: rng.randrange(9)], STOP[rng.randrange(9) :], STOP[:-1] * 2))


def bent(rng):
    """A frame with one byte changed, lost, doubled, or cut short."""
    wire = bytearray(frame(rng))
    at = rng.randrange(len(wire))
    match rng.randrange(5):
        case 0:
            wire[at] ^= 1 << rng.randrange(8)
        case 1:
            del wire[at]
        case 2:
            wire.insert(at, rng.choice((0, wire[at])))
        case 3:
            del wire[at:]
        case _:
            wire[at] = rng.randrange(256)
    return bytes(wire)


def string(rng):
    """One string of the corpus."""
    pieces = (rng.choice((frame, bent, bent, noise))(rng) for _ in range(rng.randint(1, 4)))
    return b"".join(pieces)


def python_reads(data, rng):
    """What the host's decoder and watch make of it, fed in pieces: as `Library.decode` tells it."""
    decoder, watch = FrameDecoder(), StopWatch()
    frames, stops, end, at = [], 0, None, 0
    while at < len(data):
        piece = data[at : at + rng.choice((1, 3, 17, 64, 4096))]
        frames += decoder.feed(piece)
        at += len(piece)
    for at, value in enumerate(data):
        if watch.byte(value):
            stops, end = stops + 1, at + 1
    return frames, decoder.errors, stops, end

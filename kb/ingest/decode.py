"""Bytes → text: which encoding a file is in, and its text with newlines as "\\n". Knows no file formats.

Tried in order: byte order mark, UTF-16/32 by where the NULs fall, ISO-2022 by its escapes, strict UTF-8, the encoding
that the file declares, and last a guess by charset-normalizer over the encodings that are met in practice.
"""

from __future__ import annotations

import codecs
import re

from kb.frozen import dataclass

# Detection reads this much: it is slow, and more text never changed a result.
_SAMPLE_BYTES = 64_000
_WINDOW_BYTES = 2_000
_HEAD_BYTES = 1_024  # where an XML declaration, an HTML meta or a coding cookie stands (WHATWG: the first 1024 bytes)
_LEAST_SEA_BYTES = 4_096  # a smaller file makes a chunk or two: its text, if there is any, can be found
_LEAST_TEXT_SHARE = 0.9  # least share of printable characters in a text decoded as UTF-16

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ISO_2022 = (
    (b"\x1b$)C", "iso2022_kr"),
    (b"\x1b$(", "iso2022_jp_ext"),
    (b"\x1b$A", "iso2022_jp_2"),
    (b"\x1b$", "iso2022_jp_2"),
    (b"\x1b(J", "iso2022_jp"),
    (b"\x1b(I", "iso2022_jp_3"),
)
_DECLARED = re.compile(
    rb"<\?xml[^>]*?\bencoding\s*=\s*[\"']?([\w.:-]+)"
    rb"|<meta[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)"
    rb"|@charset\s+\"([\w.:-]+)\""
    rb"|^[ \t\f]*(?:#|//|--|;|%|\.\.|<!--)[^\n]*?coding[:=][ \t]*([-\w.]+)",
    re.IGNORECASE | re.MULTILINE,
)
# A label often stands for a larger encoding that its writers used (the WHATWG Encoding Standard, §4.2). The narrow one is
# used while it can decode every byte: it decodes the wave dash of Shift_JIS and the bar of GB2312 correctly.
_WIDER = {
    "ascii": ("cp1252",),
    "iso8859-1": ("cp1252",),
    "iso8859-9": ("cp1254",),
    "tis-620": ("cp874",),
    "gb2312": ("gb18030",),
    "gbk": ("gb18030",),
    "euc_kr": ("cp949",),
    "shift_jis": ("cp932",),
    "big5": ("cp950", "big5hkscs"),
}
_NARROWER = {"gb18030": "gb2312", "cp949": "euc_kr", "cp932": "shift_jis", "cp950": "big5", "big5hkscs": "big5"}
_MORE_LABELS = {"x-sjis": "cp932", "windows-949": "cp949", "x-mac-cyrillic": "mac_cyrillic", "tis620": "tis-620"}
# The order decides ties: the more common first. Other encodings that charset-normalizer knows (EBCDIC, old DOS pages of
# Western Europe, hp-roman8, Vietnamese) are more often guessed wrongly than rightly on short texts.
_GUESSED = (
    "cp1252", "cp1251", "cp1250", "gb18030", "cp932", "cp949", "euc_jp", "cp950", "big5hkscs", "iso8859_2", "koi8_r", "koi8_u",
    "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "iso8859_5", "iso8859_6", "iso8859_7", "iso8859_15",
    "cp874", "cp866", "cp855", "mac_cyrillic", "cp437", "mac_roman",
)  # fmt: skip
# The letters beyond ASCII of the languages written in Latin script: the right encoding of a text turns its bytes into
# letters of one of them, a wrong one into a mixture. (French, Portuguese, Spanish, German, Italian, Dutch, Danish,
# Swedish, Icelandic, Czech, Slovak, Polish, Hungarian, Slovene and Croatian, Romanian, Turkish, Baltic, Vietnamese.)
_ALPHABETS = tuple(
    frozenset(letters + letters.upper() + "«»„“”‘’–—…°§€£©®·¿¡½¼¾²³ºª•×´")
    for letters in (
        "àâæçéèêëîïôœùûüÿ", "áâãàçéêíóôõúü", "áéíñóúüç", "äöüß", "àèéìíîòóùú", "éëïóöüáèí", "æøåé", "åäöé", "áæéðíóöþúý",
        "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "čćđšž", "ăâîșțşţ", "çğıöşüâîûİ",
        "āčēģīķļņšūž", "ąčęėįšųūž", "äõöüšž", "àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỵ̃́̀̃̉",
    )
)  # fmt: skip
# The commonest syllables of Korean: a third of any text in it, and hardly one in fifty of other bytes read as Korean.
_COMMON_HANGUL = frozenset("이다는에의가을고지하기를은로한도사시어서자리대있인해아그니나정일수")
_LEAST_HANGUL, _HANGUL_SHARE, _COMMON_SHARE = 4, 0.6, 0.1
_LATIN = ("cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257", "cp1258", "iso8859_15", "cp437", "mac_roman")
_HIGH = re.compile(rb"[\x80-\xff]")
# No second byte of a legacy double-byte character is below 0x30, so what follows such a byte begins a character.
_LEAD = re.compile(rb"(?<=[\x00-\x2f])[\x80-\xff]")
_NON_ASCII = re.compile(r"[^\x00-\x7f\s]")
_C1 = re.compile("[\x80-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROL = bytes(b for b in range(32) if b not in b"\t\n\r\f\x08\x1b") + b"\x7f"
_PLAIN_OR_NUL = bytes([0, 9, 10, 13, *range(32, 127)])
_MAGIC = (
    b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"\x7fELF", b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a",
    b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!\x1a", b"\xd0\xcf\x11\xe0", b"SQLite format 3\x00",
    b"\x28\xb5\x2f\xfd", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"MZ\x90\x00", b"OggS", b"fLaC", b"ID3",
    b"RIFF", b"\x00asm", b"wOFF", b"wOF2", b"II*\x00", b"MM\x00*",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of some bytes.

    text      without byte order mark, NUL and lone surrogates (both became U+FFFD); newlines are "\\n"
    encoding  Python's name of the codec
    note      what was guessed or lost, None when nothing was
    """

    text: str
    encoding: str
    note: str | None = None


def decode(raw: bytes, declared: str | None = None) -> Decoded:
    """The text of any bytes; never raises.

    declared  an encoding named outside the bytes (an HTTP header, a container), tried before one named inside
    """
    mark, encoding = next(((mark, name) for mark, name in _BOMS if raw.startswith(mark)), (b"", ""))
    if mark:
        return _decoded(raw[len(mark) :], encoding)
    for candidate in (_by_nul_pattern(raw), _by_escapes(raw), "utf-8"):
        text = _strictly(raw, candidate) if candidate else None
        if candidate and text is not None:
            return Decoded(_clean(text), candidate)
    if _is_nearly_utf8(raw):
        return _decoded(raw, "utf-8")
    for label in (declared, _label_inside(raw)):
        for encoding in _codecs_of(label) if label else ():
            text = _strictly(raw, encoding)
            if text is not None:
                return Decoded(_clean(text), encoding)
    for encoding in ("euc_kr", "cp949"):
        text = _strictly(raw, encoding)
        if text is not None and _is_korean(text):
            return Decoded(_clean(text), encoding)
    guess = _guess(raw)
    decoded = _decoded(raw, guess)
    note = f"read as {guess}, which is a guess" + (f"; {decoded.note}" if decoded.note else "")
    return Decoded(decoded.text, guess, note)


def is_binary(raw_head: bytes) -> bool:
    """True when the first bytes of a file (some kB of them) cannot be text in any encoding."""
    if any(raw_head.startswith(mark) for mark, _ in _BOMS):
        return False
    if raw_head.startswith(_MAGIC):
        return True
    if b"\0" in raw_head and _by_nul_pattern(raw_head):
        return False
    controls = len(raw_head) - len(raw_head.translate(None, _CONTROL))
    # A log with some stray control characters is text (one in fifty); of random bytes, one in nine is a control.
    return controls * 50 > len(raw_head) and controls > 1


def is_machine_made(raw: bytes) -> bool:
    """True for bytes that are no text whatever their file's name says: some kB, and one in ten of the characters that they
    decode to is a NUL, another control, or could not be read."""
    if len(raw) < _LEAST_SEA_BYTES:
        return False
    suspects = len(raw) - len(raw.translate(None, _CONTROL)) + 3 * raw.count(b"\xef\xbf\xbd")
    if suspects * 50 <= len(raw):
        return False
    text = decode(raw).text
    return 10 * (text.count("\ufffd") + sum(text.count(chr(control)) for control in _CONTROL)) > len(text)


def _decoded(raw: bytes, encoding: str) -> Decoded:
    text = raw.decode(encoding, errors="replace")
    lost = text.count("\ufffd")
    note = f"{lost} characters could not be read as {encoding}" if lost and "\ufffd".encode() not in raw else None
    return Decoded(_clean(text), encoding, note)


def _clean(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return without_unstorable(text.removeprefix("\ufeff"))


def without_unstorable(text: str) -> str:
    """The text with NULs and lone surrogates, which SQLite and UTF-8 cannot hold, as U+FFFD; same length."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _strictly(raw: bytes, encoding: str) -> str | None:
    """The text, or None where a byte is not defined in the encoding or becomes one of the old C1 controls."""
    try:
        text = raw.decode(encoding)
    except (UnicodeError, LookupError):
        return None
    return None if encoding not in ("utf-8", "iso2022_kr") and _C1.search(text) else text


def _by_nul_pattern(raw: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: texts in them have NULs at even or at odd places, hardly at both."""
    head = raw[:_SAMPLE_BYTES][: len(raw[:_SAMPLE_BYTES]) // 4 * 4]
    nulls = head.count(0)
    if not head or not nulls or nulls * 200 < len(head):
        return None
    thirds = [head[place::4].count(0) * 4 / len(head) for place in range(4)]
    if min(thirds[0], thirds[1]) > 0.9 and thirds[3] < 0.1:
        return "utf-32-be"
    if min(thirds[2], thirds[3]) > 0.9 and thirds[0] < 0.1:
        return "utf-32-le"
    high_first, low_first = head[0::2].count(0), head[1::2].count(0)
    if max(high_first, low_first) < 8 * min(high_first, low_first):
        return None
    encoding = "utf-16-be" if high_first > low_first else "utf-16-le"
    if nulls * 4 < len(head) and not head.translate(None, _PLAIN_OR_NUL):
        return None  # plain ASCII with some NULs in it: as UTF-16, half of its bytes would be NULs
    text = head.decode(encoding, errors="replace")
    good = sum(1 for c in text if c.isprintable() or c in "\t\n\r")
    return encoding if good >= _LEAST_TEXT_SHARE * len(text) else None


def _by_escapes(raw: bytes) -> str | None:
    if b"\x1b" not in raw or not raw[:_SAMPLE_BYTES].isascii():
        return None
    return next((name for escape, name in _ISO_2022 if escape in raw), None)


def _is_nearly_utf8(raw: bytes) -> bool:
    """True for UTF-8 with a few broken bytes (a cut file, a pasted Latin-1 word): legacy text is never so close to it."""
    sample = _sample(raw)
    high = sum(1 for c in sample.decode("utf-8", errors="ignore") if c > "\x7f")
    broken = sample.decode("utf-8", errors="replace").count("\ufffd") - sample.count(b"\xef\xbf\xbd")
    return high >= 10 * broken


def _label_inside(raw: bytes) -> str | None:
    match = _DECLARED.search(raw[:_HEAD_BYTES])
    return next((g.decode("ascii") for g in match.groups() if g), None) if match else None


def _codecs_of(label: str) -> tuple[str, ...]:
    label = label.strip().lower()
    try:
        name = codecs.lookup(_MORE_LABELS.get(label, label)).name
    except (LookupError, ValueError):
        return ()
    # A label that was found as ASCII rules UTF-16 out, and UTF-8 was tried before.
    if name.startswith(("utf", "idna", "punycode", "unicode", "raw", "undefined")):
        return ()
    return (name, *_WIDER.get(name, ()))


def _sample(raw: bytes) -> bytes:
    """The parts of a file that tell its encoding: up to 64 kB of windows around its non-ASCII bytes."""
    if len(raw) <= _SAMPLE_BYTES:
        return raw
    windows: list[bytes] = []
    step = len(raw) // (_SAMPLE_BYTES // _WINDOW_BYTES) // 2 * 2  # even: a run of double-byte characters stays in step
    for stretch in range(0, len(raw), step):
        first = _LEAD.search(raw, stretch, stretch + step) or _HIGH.search(raw, stretch, stretch + step)
        if first:
            window = raw[first.start() : first.start() + _WINDOW_BYTES]
            end = max(window.rfind(mark) for mark in (b" ", b"\n", b"<", b"."))
            windows.append(window[:end] if end > 0 else window)
    return b"".join(windows)


def _is_korean(text: str) -> bool:
    """Whether what stands beyond ASCII is Korean, signs such as → and ℃ among it: a short file with these was guessed to be Thai."""
    hangul = [c for c in text if "가" <= c <= "힣"]
    beyond = sum(c > "\x7f" for c in text)
    is_much = len(hangul) >= max(_LEAST_HANGUL, _HANGUL_SHARE * beyond)
    return is_much and sum(c in _COMMON_HANGUL for c in hangul) >= _COMMON_SHARE * len(hangul)


def _guess(raw: bytes) -> str:
    from charset_normalizer import from_bytes

    sample = _sample(raw)
    best = from_bytes(sample, cp_isolation=list(_GUESSED), preemptive_behaviour=False, enable_fallback=False).best()
    if best is None:
        return "cp1252"
    tied = {best.encoding, *best.could_be_from_charset}
    guess = next((name for name in _GUESSED if name in tied), best.encoding)
    if guess in _LATIN:
        return max(_LATIN, key=lambda name: _alphabet_share(sample, name))
    narrow = _NARROWER.get(guess)
    return narrow if narrow and _strictly(raw, narrow) is not None else guess


def _alphabet_share(sample: bytes, encoding: str) -> float:
    """The largest share, in [0, 1], of the non-ASCII characters that the letters of one language make up."""
    letters = _NON_ASCII.findall(sample.decode(encoding, errors="replace"))
    return max(sum(letter in alphabet for letter in letters) for alphabet in _ALPHABETS) / max(len(letters), 1)

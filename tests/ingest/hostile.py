"""Files that are made to stop a reader: each is small or quick to write, and asks for far more than it is."""

from __future__ import annotations

import io
import os
import random
import socket
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SPREADSHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_LAUGHS = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))


# ---- PDF


def pdf(*objects: bytes) -> bytes:
    """A PDF whose first object is its catalog; a cross-reference table that is right."""
    raw, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(raw))
        raw += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return raw + head + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(raw))


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """A stream object."""
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(content), content)


_CATALOG, _PAGES = b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
_FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>"


def page(resources: bytes) -> bytes:
    """A page whose content is object 4."""
    return b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<<%s>>>>" % resources


def _form_page(*forms: bytes) -> bytes:
    return pdf(_CATALOG, _PAGES, page(b"/XObject<</X 5 0 R>>"), stream(b"/X Do"), *forms)


def _many_draws() -> bytes:
    """Each form draws the next one twenty times: 20 to the power of 12."""
    return _form_page(*(stream(b"/X Do " * 20, _FORM % (6 + depth)) for depth in range(12)))


def _text_bomb() -> bytes:
    packed = zlib.compress(b"BT /F 9 Tf (AAAAAAAAAAAAAAAA) Tj ET\n" * 1_500_000, 9)
    font = b"/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
    return pdf(_CATALOG, _PAGES, page(font), stream(packed, b"/Filter/FlateDecode"))


# ---- containers: Office and EPUB


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return raw.getvalue()


def _office(main: str, content_type: str, content: str | bytes, more: Mapping[str, str | bytes]) -> bytes:
    types = f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
    types += '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    types += f'<Override PartName="/{main}" ContentType="{content_type}"/>'
    if "xl/sharedStrings.xml" in more:
        types += f'<Override PartName="/xl/sharedStrings.xml" ContentType="{_SPREADSHEET}.sharedStrings+xml"/>'
    types += "</Types>"
    link = f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="{main}"/>'
    rels = f'<Relationships xmlns="{_PACKAGE}/relationships">{link}</Relationships>'
    return packed({"[Content_Types].xml": types, "_rels/.rels": rels, main: content, **more})


def docx(body: str, before: str = "", more: Mapping[str, str | bytes] | None = None) -> bytes:
    """A Word document of this body."""
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return _office(
        "word/document.xml", kind, f"{before}<w:document {_W}><w:body>{body}</w:body></w:document>", more or {}
    )


def xlsx(rows: str, strings: str = "") -> bytes:
    """A workbook of one sheet."""
    kind = f"{_SPREADSHEET}.sheet.main+xml"
    book = f'<workbook {_SHEET} xmlns:r="{_OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>'
    links = f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    links += f'<Relationship Id="r2" Type="{_OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
    sheet = f"<worksheet {_SHEET}><sheetData>{rows}</sheetData></worksheet>"
    return _office(
        "xl/workbook.xml",
        kind,
        book,
        {
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>',
            "xl/worksheets/sheet1.xml": sheet,
            "xl/sharedStrings.xml": f"<sst {_SHEET}>{strings}</sst>",
        },
    )


def epub(chapter: str, spine: int = 1, package: str = "p.opf") -> bytes:
    """A book with one chapter, which its spine names so many times."""
    item = '<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/>'
    order = '<itemref idref="c"/>' * spine
    return packed(
        {
            "META-INF/container.xml": f'<container><rootfiles><rootfile full-path="{package}"/></rootfiles></container>',
            "p.opf": f"<package><manifest>{item}</manifest><spine>{order}</spine></package>",
            "c.xhtml": f"<html><body>{chapter}</body></html>",
        }
    )


def _attributes(count: int) -> str:
    return " ".join(f"a{number}='1'" for number in range(count))


def _nested_archives() -> bytes:
    raw = docx("<w:p/>")
    for _ in range(50):
        raw = packed({"word/document.xml": raw})
    return raw


def _repeated_entry() -> bytes:
    """One entry under 20,000 names: the central directory says so, the content stands there once."""
    parts = {f"word/{number:05d}.xml": b"" for number in range(20_000)}
    return packed(parts)


# ---- everything

# name → its bytes
FILES: dict[str, Callable[[], bytes]] = {
    "form draws itself.pdf": lambda: _form_page(stream(b"/X Do /X Do", _FORM % 5)),
    "forms draw forms.pdf": _many_draws,
    "page tree is a ring.pdf": lambda: pdf(_CATALOG, b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 9>>"),
    "two billion pages.pdf": lambda: pdf(_CATALOG, b"<</Type/Pages/Kids[]/Count 2000000000>>"),
    "bookmarks in a ring.pdf": lambda: pdf(
        b"<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>",
        _PAGES,
        page(b""),
        stream(b""),
        b"<</First 6 0 R/Last 6 0 R/Count 1>>",
        b"<</Title(x)/Parent 5 0 R/First 6 0 R/Next 6 0 R/Dest[3 0 R/Fit]>>",
    ),
    "fifty megabytes of text in a page.pdf": _text_bomb,
    "header only.pdf": lambda: b"%PDF-1.7\n",
    "previous table is itself.pdf": lambda: b"%PDF-1.4\nxref\n0 0\ntrailer<</Root 1 0 R/Prev 9>>\nstartxref\n9\n%%EOF",
    "deep arrays.pdf": lambda: pdf(b"[" * 500_000, _PAGES),
    "gap of two billion rows.xlsx": lambda: xlsx('<row r="2000000000"><c t="n"><v>1</v></c></row>'),
    "last column of each row.xlsx": lambda: xlsx(
        "".join(f'<row r="{n}"><c r="XFD{n}" t="n"><v>1</v></c></row>' for n in range(1, 5_000))
    ),
    "one huge text in every cell.xlsx": lambda: xlsx(
        "".join(f'<row r="{n}"><c t="s"><v>0</v></c></row>' for n in range(1, 60_000)), f"<si><t>{'A ' * 50_000}</t></si>"
    ),
    "millions of empty paragraphs.docx": lambda: docx("<w:p/>" * 8_000_000),
    "tables in tables.docx": lambda: docx("<w:tbl><w:tr><w:tc>" * 20_000 + "</w:tc></w:tr></w:tbl>" * 20_000),
    "a paragraph of many runs.docx": lambda: docx("<w:p>" + "<w:r><w:t>a</w:t></w:r>" * 400_000 + "</w:p>"),
    "million attributes.docx": lambda: docx(f"<w:p {_attributes(300_000)}/>"),
    "billion laughs.docx": lambda: docx("<w:p><w:r><w:t>&l9;</w:t></w:r></w:p>", f'<!DOCTYPE w [<!ENTITY l0 "ha">{_LAUGHS}]>'),
    "reads passwd.docx": lambda: docx(
        "<w:p><w:r><w:t>&x;</w:t></w:r></w:p>", '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    ),
    "forty megabytes of one letter.docx": lambda: docx(f"<w:p><w:r><w:t>{'A' * 40_000_000}</w:t></w:r></w:p>"),
    "bomb.docx": lambda: docx("<w:p/>", more={"word/media/image1.png": b"\0" * 300_000_000}),
    "archives in archives.docx": _nested_archives,
    "twenty thousand parts.docx": _repeated_entry,
    "way out.docx": lambda: docx("<w:p/>", more={"../../../../tmp/out.txt": b"out"}),
    "locked.docx": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4_000),
    "spine repeats.epub": lambda: epub("<p>" + "The same again. " * 500 + "</p>", 400_000),
    "package is its own container.epub": lambda: epub("<p>x</p>", 1, "META-INF/container.xml"),
    "deep chapter.epub": lambda: epub("<div>" * 300_000),
    "million attributes.html": lambda: f"<p {_attributes(200_000)}>text</p>".encode(),
    "deep.html": lambda: b"<div>" * 400_000 + b"text",
    "tables in tables.html": lambda: b"<table><tr><td>" * 50_000 + b"text",
    "unclosed formatting.html": lambda: b"<b><i><font>" * 30_000 + b"<p>text" * 3_000,
    "empty paragraphs.html": lambda: b"<p></p>" * 400_000,
    "many links.html": lambda: b"<p>text text <a href=x>y</a></p>" * 60_000,
    "front matter of brackets.md": lambda: b"---\na: " + b"[" * 300_000 + b"\n---\ntext\n",
    "front matter of aliases.md": lambda: (
        b"---\na0: &a0 [x]\n" + b"".join(b"a%d: &a%d [%s]\n" % (n + 1, n + 1, b",".join([b"*a%d" % n] * 9)) for n in range(30)) + b"---\nx"
    ),
    "brackets.md": lambda: b"[" * 1_000_000,
    "quotes in quotes.md": lambda: b">" * 500_000 + b" text",
    "lists in lists.md": lambda: "".join(f"{'  ' * n}- x\n" for n in range(1_500)).encode(),
    "rising backticks.md": lambda: " ".join("`" * n for n in range(1_400)).encode(),
    "headings.md": lambda: b"# h\n" * 150_000,
    "wide table.md": lambda: b"|a" * 100_000 + b"|\n" + b"|-" * 100_000 + b"|\n" + b"|x" * 100_000,
    "ten megabytes in a line.txt": lambda: b"word " * 1_990_000,
    "one letter.txt": lambda: b"a" * 3_000_000,
    "stops.txt": lambda: b"!" * 3_000_000,
    "stops and blanks.txt": lambda: b". " * 600_000,
    "names.txt": lambda: b"Aa Bb " * 200_000,
    "sea of NULs.txt": lambda: bytes(9_900_000),
    "UTF-16 sea of NULs.txt": lambda: b"\xff\xfe" + bytes(5_000_000),
    "replacement characters.txt": lambda: "\ufffd".encode() * 1_000_000,
    "random bytes.txt": lambda: random.Random(1).randbytes(1_000_000),
    "lone surrogates.txt": lambda: b"\xff\xfe" + b"\x00\xd8" * 500_000,
    "wide.csv": lambda: b"a," * 500_000,
    "deep.json": lambda: b"[" * 1_000_000,
    "deep.ipynb": lambda: b'{"cells":' * 200_000,
    "blanks.wiki": lambda: b"= a" + b" " * 300_000 + b"x",
    "fields.rst": lambda: b":a:`" * 100_000 + b"\n" + b"=" * 400_000,
    "definitions.py": lambda: b"def f(): pass\n" * 40_000,
    "parentheses.c": lambda: b"(" * 1_000_000,
    "words without end.c": lambda: b"int " + b"a " * 500_000,
}  # fmt: skip
# Names that a file system takes and a listing, a terminal or a database may stumble over.
NAMES = (
    "line\nbreak.md", "escape\x1b[31m.md", "bell\x07.md", "tab\there.md", "  blanks  .md", "-rf.md", "--help.md",
    "quote'\".md", "back\\slash.md", "percent%s%n.md", "$(touch out).md", "\u202egnp.md", "e\u0301\u0301\u0301.md",
    "zero\u200bwidth.md", "한글 이름.md", "😀.md", "a" * 252 + ".md", "CON.md", "dot..md", "semi;colon.md", "star*.md",
)  # fmt: skip
RAW_NAMES = (b"\xff\xfe.md", b"latin-\xe9.md", b"cut-\xf0\x9f.md")


def make_places(folder: Path, outside: Path) -> list[Path]:
    """Things in a folder that are no plain file, or that lead away; returns them."""
    outside.mkdir(parents=True, exist_ok=True)
    (outside / "private.md").write_text("# Private\n\nThe secret of the neighbours.\n")
    os.mkfifo(folder / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(folder)  # the path of a socket may have 107 bytes
        try:
            listener.bind("socket.md")
        finally:
            os.chdir(here)
    links = {
        "device.md": Path("/dev/zero"),
        "out.md": outside / "private.md",
        "out": outside,
        "nowhere.md": folder / "not there.md",
        "ring.md": folder / "ring.md",
        "up": folder,
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)
    with open(folder / "sparse.txt", "wb") as sparse:
        sparse.truncate(1 << 40)
    with open(folder / "sparse sea.txt", "wb") as sparse:
        sparse.truncate(9_000_000)
    deep = folder
    for _ in range(300):
        deep = deep / "d"
    deep.mkdir(parents=True)
    return [folder / name for name in ("pipe.md", "socket.md", *links, "sparse.txt", "sparse sea.txt")]


def make_names(folder: Path) -> int:
    """One small document under each name; returns how many."""
    for number, name in enumerate((*(os.fsencode(name) for name in NAMES), *RAW_NAMES)):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(f"# Name {number}\n\nA document under name {number}.\n".encode())
    return len(NAMES) + len(RAW_NAMES)


def mutate(raw: bytes, chance: random.Random) -> bytes:
    """The bytes with one to eight damages: changed, cut, doubled or moved stretches."""
    broken = bytearray(raw)
    for _ in range(chance.randint(1, 8)):
        at, length = chance.randrange(len(broken) + 1), min(chance.choice((1, 2, 4, 16, 256)), len(broken))
        kind = chance.randrange(5)
        if kind == 0:
            broken[at : at + length] = chance.randbytes(length)
        elif kind == 1:
            del broken[at : at + length]
        elif kind == 2:
            broken[at:at] = broken[at : at + length] * chance.choice((1, 2, 50))
        elif kind == 3:
            broken[at : at + length] = b"\xff" * length
        else:
            broken[at:at] = chance.choice((b"0", b"-1", b"2147483648", b"99999999999", b"<", b"&", b"\0", b"[", b"*"))
    return bytes(broken)

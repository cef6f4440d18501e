"""E-books (.epub) → their chapters in reading order; a block's section is the chapter's title."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from kb.drafts import Parsed
from kb.errors import ParseFailed
from kb.ingest.decode import decode
from kb.ingest.readers.compose import Composition, one_line
from kb.ingest.readers.container import open_container
from kb.ingest.readers.front_matter import primary_language, tags_of
from kb.ingest.readers.html import parse_page
from kb.ingest.readers.markup import BlockWalk

_PAGES = ("application/xhtml+xml", "text/html")
_FURNITURE = "//nav | //script | //style"


def read_epub(raw: bytes, path: str) -> Parsed:
    """A book; ParseFailed where its chapters are encrypted, or it has none."""
    archive = open_container(raw, path)
    try:
        package_path = _package_path(archive)
        package = _xml(archive.read(package_path))
    except (KeyError, ValueError, BadZipFile, NotImplementedError) as error:
        raise _broken(path, f"it has no readable table of its parts ({error})") from error
    folder = posixpath.dirname(package_path)
    chapters = _spine(package, folder)
    composition = Composition()
    missing: list[str] = []
    for name in chapters:
        try:
            page = parse_page(decode(archive.read(name)).text)
        except (KeyError, BadZipFile, NotImplementedError, RuntimeError):
            missing.append(posixpath.basename(name))
            continue
        if page is not None:
            _add_chapter(composition, page)
    if not chapters or len(missing) == len(chapters):
        raise _broken(path, "none of its chapters can be read: encrypted, or incomplete")
    note = f"{len(missing)} chapters are missing from the file: {', '.join(missing[:5])}" if missing else None
    return composition.parsed(
        title=next(iter(_about(package, "title")), None) or composition.top_heading(),
        tags=tags_of(_about(package, "subject")),
        language=primary_language(next(iter(_about(package, "language")), None)),
        note=note,
    )


def _add_chapter(composition: Composition, page: Any) -> None:
    for furniture in page.xpath(_FURNITURE):
        furniture.drop_tree()
    heading = next(iter(page.xpath("//h1 | //h2 | //h3")), None)
    name = heading.text_content() if heading is not None else page.findtext(".//title") or ""
    BlockWalk(composition, section=one_line(name)[:120] or None).add(page)


def _package_path(archive: ZipFile) -> str:
    root = _xml(archive.read("META-INF/container.xml"))
    found = root.xpath("//*[local-name()='rootfile']/@full-path")
    if not found:
        raise KeyError("META-INF/container.xml names no package")
    return str(found[0])


def _xml(raw: bytes) -> Any:
    """Parsed without entities, network or DTD, because the file is not trusted."""
    import lxml.etree

    parser = lxml.etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    root = lxml.etree.fromstring(raw, parser)
    if root is None:
        raise ValueError("empty XML")
    return root


def _spine(package: Any, folder: str) -> list[str]:
    """The archive names of the chapters, in reading order."""
    parts = {part.get("id"): part for part in package.xpath("//*[local-name()='manifest']/*[local-name()='item']")}
    order = package.xpath("//*[local-name()='spine']/*[local-name()='itemref']/@idref")
    chapters = [parts[name] for name in order if name in parts] or list(parts.values())
    pages = [part for part in chapters if part.get("media-type") in _PAGES and part.get("properties") != "nav"]
    return [posixpath.normpath(posixpath.join(folder, unquote(part.get("href") or ""))) for part in pages]


def _about(package: Any, name: str) -> list[str]:
    found = package.xpath("//*[local-name()='metadata']//*[local-name()=$name]", name=name)
    return [text for element in found if (text := one_line("".join(element.itertext())))]


def _broken(path: str, why: str) -> ParseFailed:
    return ParseFailed(f"cannot read {path}: {why}", fix="open it in an e-book program and save a copy", path=path)

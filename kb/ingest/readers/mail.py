"""An e-mail as it is saved (.eml) → who wrote what to whom, and its text: decoded, without the parts that no reader sees.

Of a mail that has its text twice, plain and as a page, the plain one is read. Attachments are named, not read.
"""

from __future__ import annotations

from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser

from kb.drafts import Parsed
from kb.ingest.decode import decode
from kb.ingest.readers.compose import Composition, one_line
from kb.ingest.readers.html import read_html
from kb.ingest.readers.text import read_text

# In the order in which a person reads them.
_HEADERS = ("From", "To", "Cc", "Date")
# What opens a signature.
_SIGNATURE = "-- "


def read_mail(raw: bytes, path: str) -> Parsed:
    """One message; its title is its subject."""
    message = BytesParser(EmailMessage, policy=policy.default).parsebytes(raw)
    composition = Composition()
    subject = one_line(str(message.get("Subject", "")))
    composition.add("heading", subject, level=1)
    for name in _HEADERS:
        if said := one_line(str(message.get(name, ""))):
            composition.add("list", f"- {name}: {said}")
    body = message.get_body(preferencelist=("plain", "html"))
    note = None
    if body is not None:
        note = _add_body(composition, body, path)
    names = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()]
    if names:
        composition.add("paragraph", f"Attachments: {', '.join(one_line(name) for name in names)}")
    left_out = f"attachments are not read: {', '.join(names)}" if names else None
    return composition.parsed(title=subject or None, note="; ".join(filter(None, (note, left_out))) or None)


def _add_body(composition: Composition, body: MIMEPart, path: str) -> str | None:
    """The blocks of a message's text; what was guessed or left out of it, for the user."""
    payload = body.get_payload(decode=True)
    decoded = decode(payload if isinstance(payload, bytes) else b"", body.get_content_charset())
    if body.get_content_subtype() == "html":
        parsed = read_html(decoded.text.encode(), path)
    else:
        lines = [line for line in decoded.text.split("\n") if line != _SIGNATURE]
        parsed = read_text("\n".join(lines).encode(), path)  # people write mails without headings
    for block in parsed.blocks:
        level = block.level + 1 if block.kind == "heading" else 0
        composition.add(block.kind, parsed.text[block.start : block.end], level=level)
    return decoded.note or parsed.note

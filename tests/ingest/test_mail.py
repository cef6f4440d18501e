"""E-mails as mail programs save them: encoded words, base64, pages, attachments."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from kb.ingest.readers.mail import read_mail


def mail(subject: str, **headers: str) -> EmailMessage:
    message = EmailMessage()
    message["Subject"] = subject
    for name, value in headers.items():
        message[name] = value
    return message


def test_a_korean_mail_in_base64_with_an_attachment() -> None:
    message = mail("[예산] 워크숍 안내", From="김하늘 <h@lamp.kr>", To="팀 <t@lamp.kr>")
    message.set_content("워크숍은 10월 16일에 갑니다.\n\n- 버스는 8시\n\n-- \n김하늘\n", charset="euc-kr", cte="base64")
    message.add_alternative("<p>워크숍</p>", subtype="html")
    message.add_attachment(b"x", maintype="application", subtype="pdf", filename="일정표.pdf")
    parsed = read_mail(bytes(message), "a.eml")
    assert parsed.title == "[예산] 워크숍 안내"
    assert [(b.kind, parsed.text[b.start : b.end]) for b in parsed.blocks] == [
        ("heading", "[예산] 워크숍 안내"),
        ("list", "- From: 김하늘 <h@lamp.kr>"),
        ("list", "- To: 팀 <t@lamp.kr>"),
        ("paragraph", "워크숍은 10월 16일에 갑니다."),
        ("paragraph", "- 버스는 8시"),
        ("paragraph", "김하늘"),
        ("paragraph", "Attachments: 일정표.pdf"),
    ]
    assert parsed.note == "attachments are not read: 일정표.pdf"


def test_a_mail_that_is_a_page_is_read_as_one() -> None:
    message = mail("Café", From="Jürgen Köhler <j@lamp.org>")
    message.set_content("<h1>Oil</h1><p>Bring the café’s £1,200.</p>", subtype="html", cte="quoted-printable")
    parsed = read_mail(bytes(message), "b.eml")
    assert [(b.kind, b.level, parsed.text[b.start : b.end]) for b in parsed.blocks] == [
        ("heading", 1, "Café"),
        ("list", 0, "- From: Jürgen Köhler <j@lamp.org>"),
        ("heading", 2, "Oil"),
        ("paragraph", 0, "Bring the café’s £1,200."),
    ]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", ""),
        (b"no mail at all\nsecond line\n", "no mail at all\nsecond line"),
        (b"Subject: x\nContent-Type: text/plain; charset=nonsense\n\nText.\n", "x\n\nText."),
        (b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nText.\n", "x\n\nText."),
        (b"Subject: =?utf-8?b?!!?=\nFrom: <<<\n\nText.\n", None),
    ],
)
def test_a_broken_mail_is_read_as_far_as_it_goes(raw: bytes, text: str | None) -> None:
    parsed = read_mail(raw, "c.eml")
    assert text is None or parsed.text == text

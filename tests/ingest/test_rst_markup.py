"""reStructuredText as it is indexed and quoted: like Markdown, line for line."""

from __future__ import annotations

import pytest

from kb.ingest.readers.rst import read_rst


def shown(text: str) -> str:
    parsed = read_rst(text.encode(), "a.rst")
    said = parsed.shown(0, len(parsed.text))
    assert said.count("\n") == text.count("\n")
    return said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # Inline.
        ("Set :data:`DEBUG`, or call :func:`lamp.light`.", "Set `DEBUG`, or call `lamp.light()`."),
        (":class:`~lamp.Lamp` and :py:meth:`.Lamp.dim`", "`Lamp` and `Lamp.dim()`"),
        ("See :doc:`/deploying/index` and :ref:`the guide <guide>`.", "See deploying/index and the guide."),
        ("As :pep:`8` says, and :rfc:`2616`.", "As PEP 8 says, and RFC 2616."),
        ("Use ``x = 1`` in the `docs <https://x.org>`_ or `here`__.", "Use `x = 1` in the docs or here."),
        ("It burns [#]_ and shines [1]_, says [x].", "It burns and shines, says [x]."),
        (".. _Oil: https://x.org\n\nOil_ burns, x_ stays.", "\n\nOil burns, x_ stays."),
        ("a :code:`b\nc` d", "a `b\nc` d"),
        # Sections.
        ("Lamp\n====\n\nHorn\n~~~~\n\ntext", "# Lamp\n\n\n## Horn\n\n\ntext"),
        ("====\nLamp\n====\n\ntext", "\n# Lamp\n\n\ntext"),
        # Code.
        ("Run::\n\n    lamp --on\n\nDone.", "Run:\n```\nlamp --on\n```\nDone."),
        (".. code-block:: sh\n   :caption: x\n\n   lamp\n     --on\n\nDone.", "\n\n```sh\nlamp\n  --on\n```\nDone."),
        ("Text.\n\n>>> 1 + 1\n2\n\nMore.", "Text.\n```\n>>> 1 + 1\n2\n```\nMore."),
        ("- Run::\n\n    lamp\n\n- Go.", "- Run:\n    ```\n    lamp\n    ```\n- Go."),
        (".. code-block:: sh\n\n   x\n\nDone.", "\n```sh\nx\n```\nDone."),
        ("Run::\n\n    :data:`X`\n\nDone.", "Run:\n```\n:data:`X`\n```\nDone."),
        # Directives: their content stands at the margin, as prose; options go.
        (".. note::\n\n   Keep *it* dry.", "\n\nKeep *it* dry."),
        (".. note:: Keep it dry.", "Keep it dry."),
        (".. py:data:: SECRET\n\n    A key.\n\n    Default: ``None``", "## SECRET\n\nA key.\n\nDefault: `None`"),
        (".. py:data:: SECRET\n\n    A key.\n\nMore text.", "`SECRET`\n\nA key.\n\nMore text."),
        (".. autoclass:: Lamp\n\nText.", "\n\nText."),
        (".. comment\n   that nobody reads\n\nText.", "\n\n\nText."),
        (".. versionadded:: 3.1", "New in version 3.1."),
        (".. versionchanged:: 2.3\n   Off.", "Changed in version 2.3:\nOff."),
        (".. tabs::\n\n   .. group-tab:: Linux\n\n      .. code-block:: text\n\n         $ lamp\n\n   .. group-tab:: Mac\n\n      Go.",
         "\n\n**Linux**\n\n\n```text\n$ lamp\n```\n**Mac**\n\nGo."),
        (".. figure:: lamp.png\n   :width: 3\n\n   The lamp.", "\n\n\nThe lamp."),
        (".. admonition:: Mind\n\n   it.", "**Mind**\n\nit."),
        (".. confval:: keep\n   :type: int\n   :noindex:\n   :default: ``3``\n\n   How many.", "## keep\n- Type: int\n\n- Default: `3`\n\nHow many."),
        (":Code 0: all passed\n:Code 5: no tests", "- Code 0: all passed\n- Code 5: no tests"),
        (":orphan:\n\nText.", "\n\nText."),
        ("the `first\ncommit <https://x.org>`__ in\nit", "the first\ncommit in\nit"),
        ("the `commit\n<https://x.org>`__ in\nit", "the commit\n in\nit"),
        (r"an account\, and \*this\*", "an account, and *this*"),
        # No room for a fence: as it is.
        ("Run::\n\n    lamp", "Run:\n\n    lamp"),
    ],
)  # fmt: skip
def test_markup(text: str, said: str) -> None:
    assert shown(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "Plain text, with a_b and *stars* and `a` x.",
        "Ratio 3::4 and 12:30:45",
    ],
)
def test_what_is_no_markup_stays(text: str) -> None:
    assert shown(text) == text


def test_each_setting_is_a_section() -> None:
    text = "Settings\n========\n\n.. py:data:: A\n\n   First.\n\n   Default: ``1``\n\n.. envvar:: B\n\n   Second.\n\nMore\n====\n"
    parsed = read_rst(text.encode(), "a.rst")
    assert [(b.level, b.title or parsed.shown(b.start, b.end)) for b in parsed.blocks] == [
        (1, "Settings"),
        (2, "A"),
        (0, "First."),
        (0, "Default: `1`"),
        (2, "B"),
        (0, "Second."),
        (1, "More"),
    ]


def test_a_setting_with_other_text_behind_it_is_no_section() -> None:
    text = "Settings\n========\n\n.. py:data:: A\n\n   First.\n\nText of the section.\n"
    parsed = read_rst(text.encode(), "a.rst")
    assert [b.kind for b in parsed.blocks] == ["heading", "paragraph", "paragraph", "paragraph"]


def test_code_is_shown_with_its_fences() -> None:
    text = "Run::\n\n    lamp --on\n\nThen.\n\n.. code-block:: sh\n\n   x\n\nDone."
    parsed = read_rst(text.encode(), "a.rst")
    assert [parsed.shown(b.start, b.end) for b in parsed.blocks] == [
        "Run:",
        "```\nlamp --on\n```",
        "Then.",
        "```sh\nx\n```",
        "Done.",
    ]

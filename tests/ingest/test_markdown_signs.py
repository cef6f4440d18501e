"""Signs of Markdown that stand for something else: what is left of a line when they are read."""

from __future__ import annotations

import pytest

from kb.ingest.readers.markdown import read_markdown
from kb.ingest.readers.markdown_markup import without_markup


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Espa&#241;a&nbsp;&mdash; R&amp;D", "España — R&D"),
        ("a &lt;T&gt; and &nosuchthing; stay", "a &lt;T&gt; and &nosuchthing; stay"),
        ("`&mdash;` is code", "`&mdash;` is code"),
        ('Ask in {% channel "travel" %}.', "Ask in travel."),
        ('Rules {% include "a/b.html" %} of it', "Rules  of it"),
        ('A {{< tooltip text="Pod" term_id="pod" >}} runs', "A Pod runs"),
        ("{{</* escaped */>}} stays", "{{</* escaped */>}} stays"),
        ("`{{< code >}}` and {{ name }} stay", "`{{< code >}}` and {{ name }} stay"),
        ("See [Cargo  notes] and [others].\n\n[cargo notes]: a.md", "See Cargo  notes and [others].\n\n"),
        ("See [`Rc`] here.\n\n[`Rc`]: rc.md", "See `Rc` here.\n\n"),
        ("[text][ref] and [ref](b.md)\n\n[ref]: a.md", "[text][ref] and [ref](b.md)\n\n"),
        ("<i>`one`</i><b>`two`</b>", "`one` `two`"),
        ("<i>one</i><b>two</b>", "onetwo"),
        ("A story. {.note #id}", "A story."),
        ("Say {name}", "Say {name}"),
        ('```console\n$ <font color="#4E">kb</font> ask &quot;a&quot;\n```', '```console\n$ kb ask "a"\n```'),
        ("```console\n$ cat &quot;a&quot; <b\n```", "```console\n$ cat &quot;a&quot; <b\n```"),
        ("```html\n<b>a</b> &quot;\n```", "```html\n<b>a</b> &quot;\n```"),
    ],
)
def test_what_is_left(text: str, left: str) -> None:
    assert without_markup(text) == left


def test_a_title_of_front_matter_has_no_character_references() -> None:
    parsed = read_markdown(b"---\ntitle: Logging in &amp; Networks\n---\ntext", "a.md")
    assert parsed.title == "Logging in & Networks"
    assert parsed.blocks[0].title == "Logging in & Networks"


def test_titles_have_no_tags_of_site_builders() -> None:
    parsed = read_markdown(b'## Branches {% include "x.html" %}\n\ntext', "a.md")
    assert [block.title for block in parsed.blocks if block.kind == "heading"] == ["Branches"]

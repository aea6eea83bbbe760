"""Reading a page back: a small tree over the standard library's parser, for the report's tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "hr", "input", "area", "base", "col", "embed", "source", "track", "wbr"}


@dataclass
class Node:
    """An element with its attributes, children and text."""

    tag: str
    attributes: dict[str, str]
    parent: Node | None = None
    children: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text inside, white space collapsed."""
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return " ".join("".join(parts).split())

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]

    def get(self, name: str) -> str | None:
        """An attribute, if it is there."""
        return self.attributes.get(name)

    def walk(self) -> Iterator[Node]:
        """This element and all inside it."""
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def find(self, tag: str | None = None, **attributes: str | bool) -> list[Node]:
        """Elements of a tag whose attributes are as given; True asks that one is there.

        Data_c stands for data-c.
        """
        wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
        return [
            node
            for node in self.walk()
            if (tag is None or node.tag == tag)
            and all(
                (name in node.attributes) if value is True else node.get(name) == value
                for name, value in wanted.items()
            )
        ]

    def up(self, attribute: str) -> str | None:
        """An attribute of this element or of the nearest around it that has it."""
        node: Node | None = self
        while node is not None:
            if attribute in node.attributes:
                return node.attributes[attribute]
            node = node.parent
        return None

    def inside(self, tag: str) -> Node | None:
        """The nearest element of a tag around this one."""
        node = self.parent
        while node is not None and node.tag != tag:
            node = node.parent
        return node


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("document", {})
        self.open = self.root

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs}, self.open)
        self.open.children.append(node)
        if tag not in VOID:
            self.open = node

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.children.append(Node(tag, {name: value or "" for name, value in attrs}, self.open))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.tag == tag, f"</{tag}> closes <{self.open.tag}>"
        assert self.open.parent is not None
        self.open = self.open.parent

    def handle_data(self, data: str) -> None:
        self.open.children.append(data)


def parse(html: str) -> Node:
    """The tree of a page. Fails where elements are not closed in the order in which they were opened."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert builder.open is builder.root, f"<{builder.open.tag}> is never closed"
    return builder.root

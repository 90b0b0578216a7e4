"""How elements of lxml are saved, and with them the documents of python-docx and python-pptx: a tree as its text, an element as its place in the tree.

Pickles refer to the public functions of this module; they keep their names and arguments.
"""

import importlib
import itertools
import sys
from collections.abc import Iterator
from typing import Any

from .reduction import Reduced

_LXML = "lxml.etree"
# Libraries give the elements their own classes: the module and the function that parses a text so.
_PARSERS = {"docx": ("docx.oxml.parser", "parse_xml"), "pptx": ("pptx.oxml", "parse_xml"), "lxml.objectify": ("lxml.objectify", "fromstring")}
_XHTML = "lxml.html"
# The outer elements may have no class of the library.
_MAX_READ_ELEMENTS = 50


def reduced_xml(value: Any) -> Reduced | None:
    """None for a value that is no part of an lxml tree."""
    etree = sys.modules.get(_LXML)
    if etree is None:
        return None
    if isinstance(value, etree._ElementTree):
        return etree.ElementTree, (value.getroot(),)
    if not isinstance(value, etree._Element):
        return None
    root = value.getroottree().getroot()
    if value is root or root is None:
        return parse_tree, (etree.tostring(value, with_tail=False), _kind(value))
    return element_at, (root, tuple(reversed(list(_places(value)))))


def parse_tree(text: bytes, kind: str) -> Any:
    if kind in _PARSERS:
        module, function = _PARSERS[kind]
        return getattr(importlib.import_module(module), function)(text)
    etree = importlib.import_module(_LXML)
    if kind == _XHTML:
        return etree.fromstring(text, importlib.import_module(_XHTML).XHTMLParser(huge_tree=True))
    return etree.fromstring(text, etree.XMLParser(huge_tree=True))


def element_at(root: Any, places: tuple[int, ...]) -> Any:
    for place in places:
        root = root[place]
    return root


def _places(element: Any) -> Iterator[int]:
    """From the element up to its root."""
    while (parent := element.getparent()) is not None:
        yield parent.index(element)
        element = parent


def _kind(root: Any) -> str:
    for element in itertools.islice(root.iter(), _MAX_READ_ELEMENTS):
        module = type(element).__module__
        for kind in (*_PARSERS, _XHTML):
            if module == kind or module.startswith(f"{kind}."):
                return kind
    return ""

"""The docs as a site: every warning is an error, every page is in the navigation, and nothing is loaded from elsewhere."""

import html.parser
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import chart

MKDOCS = chart.TOOLS / "operate" / "bin" / "mkdocs"
# Attributes by which a browser loads something without being asked to.
LOADED = {
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
}
# Links that say something, and load nothing.
SAID = {"canonical", "next", "prev"}


class Loads(html.parser.HTMLParser):
    """What a page loads."""

    def __init__(self):
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]):
        given = dict(attributes)
        if tag == "link" and SAID & set((given.get("rel") or "").split()):
            return
        self.found += [given[name] or "" for name in LOADED.get(tag, ()) if name in given]


@unittest.skipUnless(MKDOCS.exists(), f"{MKDOCS} is not there: no site was built")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = Path(folder.name) / "site"
        command = [MKDOCS, "build", "--strict", "--site-dir", cls.site]
        # What the theme says of other products is no warning about pages.
        quiet = {"PATH": os.environ["PATH"], "NO_MKDOCS_2_WARNING": "1"}
        cls.done = subprocess.run(command, cwd=chart.ROOT, env=quiet, capture_output=True, text=True)

    def test_it_is_built_without_a_warning(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertNotRegex(self.done.stderr, r"(?m)^(?:WARNING|ERROR)")
        pages = {it.relative_to(chart.ROOT / "docs").with_suffix(".html") for it in (chart.ROOT / "docs").rglob("*.md")}
        made = {it.relative_to(self.site) for it in self.site.rglob("*.html")}
        named = {it.with_name("index.html") if it.name == "README.html" else it for it in pages}
        self.assertEqual(named - made, set())
        self.assertGreater(len(made), 70)

    def test_it_loads_nothing_from_elsewhere(self):
        loaded = 0
        for page in self.site.rglob("*.html"):
            parser = Loads()
            parser.feed(page.read_text())
            loaded += len(parser.found)
            for address in parser.found:
                self.assertNotRegex(address, r"^(?:[a-z]+:)?//", f"{page.name} loads {address}")
        self.assertGreater(loaded, 200)
        for style in self.site.rglob("*.css"):
            self.assertNotRegex(style.read_text(), r"(?:url\(|@import )[\"']?(?:https?:)?//", style.name)

    def test_its_search_knows_every_part(self):
        index = (self.site / "search" / "search_index.json").read_text()
        for word in ("messages/wait", "TraplineBackupOld", "smtp-proxy-protocol", "trapline_waits_parked"):
            self.assertTrue(re.search(re.escape(word), index), word)


if __name__ == "__main__":
    unittest.main()

"""What the site has beside the pages in docs/: the README as its first page, and files of the repository that pages
lead to, in `more/`. The lists of runbooks and decisions are made of their folders."""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS = "docs"
# Files outside of docs/ that pages lead to.
MORE = (
    "CHANGELOG.md",
    "LICENSE",
    "THIRD_PARTY_NOTICES.md",
    "deny.toml",
    "fuzz/README.md",
    "libs/mime/src/codes/words.tsv",
    "loadtest/README.md",
    "tests/clients/webhooks/vectors.json",
    "tests/corpus/README.md",
    "tests/fixtures/README.md",
    "tests/spf/LICENSE",
    "tests/spf/README.md",
)
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
# Folders whose pages are listed by name, by the words that stand for them in the navigation.
LISTS = {"runbooks": "operate/runbooks", "decisions": "adr"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    for section in config.nav:
        for items in section.values():
            for item in items if isinstance(items, list) else []:
                if isinstance(item, dict):
                    [(title, value)] = item.items()
                    item[title] = pages_in(LISTS[value]) if value in LISTS else value
    return config


def pages_in(folder: str) -> list[str]:
    return sorted(f"{folder}/{it.name}" for it in (ROOT / DOCS / folder).glob("*.md"))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, "index.md", content=(ROOT / "README.md").read_text()))
    for name in MORE:
        # What has no ending would be no file of a site.
        files.append(File.generated(config, f"more/{name}", content=(ROOT / name).read_bytes()))
    return files


def on_page_markdown(text: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links of the repository to where their files are in the site."""
    return LINK.sub(lambda link: link[1] + target(link[2], page.file.src_uri) + (link[3] or "") + link[4], text)


def target(link: str, page: str) -> str:
    if "://" in link or link.startswith(("mailto:", "/")):
        return link
    file = posixpath.normpath(posixpath.join(posixpath.dirname(source(page)), link))
    return posixpath.relpath(place(file), posixpath.dirname(page) or ".")


def source(page: str) -> str:
    """The file of the repository that a page is made of."""
    if page == "index.md":
        return "README.md"
    return page.removeprefix("more/") if page.startswith("more/") else f"{DOCS}/{page}"


def place(file: str) -> str:
    """Where a file of the repository is in the site."""
    if file == "README.md":
        return "index.md"
    return file.removeprefix(f"{DOCS}/") if file.startswith(f"{DOCS}/") else f"more/{file}"

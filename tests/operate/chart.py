"""Renders the chart with Helm, and finds what is in the objects."""

import functools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tests" / ".tools"
CHART = ROOT / "helm" / "trapline"
# The name and the namespace that every render has.
RELEASE, NAMESPACE = "mail", "sandbox"
# What the cluster is said to run, where a test does not say.
KUBERNETES = "1.30"
ROLES = ("api", "smtp", "worker")
VALUES = sorted((CHART / "ci").glob("*.yaml"))


class RenderError(Exception):
    """What Helm says of values that it does not take."""


def helm(*arguments: str | Path) -> str:
    """What Helm prints, without a cluster or a home."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [TOOLS / "helm", *arguments],
            capture_output=True,
            text=True,
            env={"PATH": os.environ["PATH"], "HOME": home},
        )
    if done.returncode:
        raise RenderError(done.stderr + done.stdout)
    return done.stdout


@functools.cache
def text(values: str, kubernetes: str = KUBERNETES) -> str:
    """The render of a file of `ci`, or of values in JSON."""
    options = ["--namespace", NAMESPACE, "--kube-version", kubernetes]
    if not values.startswith("{"):
        return helm("template", RELEASE, CHART, *options, "--values", CHART / "ci" / f"{values}.yaml")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(values)
        file.flush()
        return helm("template", RELEASE, CHART, *options, "--values", file.name)


def objects(values: str | dict) -> list[dict]:
    """The objects of a render, in order."""
    rendered = text(values if isinstance(values, str) else json.dumps(values, sort_keys=True))
    return [it for it in yaml.safe_load_all(rendered) if it]


def find(values: str | dict, kind: str, name: str | None = None) -> dict:
    """The one object of a kind, or the one whose name ends so."""
    found = [
        it
        for it in objects(values)
        if it["kind"] == kind and (name is None or it["metadata"]["name"].endswith(name))
    ]
    assert len(found) == 1, f"{kind} {name}: {[it['metadata']['name'] for it in found]}"
    return found[0]


def pods(values: str | dict) -> dict[str, dict]:
    """The pod templates of a render, by component."""
    component = "app.kubernetes.io/component"
    return {
        it["spec"]["template"]["metadata"]["labels"][component]: it["spec"]["template"]
        for it in objects(values)
        if it["kind"] in ("Deployment", "StatefulSet", "Job")
    }


def container(pod: dict) -> dict:
    """The product's own container."""
    return pod["spec"]["containers"][0]


def variables(pod: dict) -> dict[str, dict]:
    """The variables of the product's own container, by name."""
    return {it["name"]: it for it in container(pod)["env"]}


def notes(values: str) -> str:
    """What Helm says after an install; it says it without a cluster only as a part of an object."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(CHART, Path(folder) / "trapline"))
        templates = copy / "templates"
        written = (templates / "NOTES.txt").read_text()
        (templates / "_notes.tpl").write_text('{{- define "notes" -}}\n' + written + "{{- end -}}")
        (templates / "notes.yaml").write_text('notes: {{ include "notes" . | quote }}\n')
        options = ["--namespace", NAMESPACE, "--kube-version", KUBERNETES]
        options += ["--show-only", "templates/notes.yaml"]
        file = CHART / "ci" / f"{values}.yaml"
        return yaml.safe_load(helm("template", RELEASE, copy, *options, "--values", file))["notes"]

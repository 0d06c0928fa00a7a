"""What `terraform validate` would find, without a download of providers; and what the product knows."""

import functools
import json
import re
import shutil
import subprocess
import unittest

import terraform

PROVIDERS = json.loads(terraform.PROVIDERS.read_text())
META = {"count", "depends_on", "for_each", "lifecycle", "provider"}
# Attributes of modules that are theirs.
MODULE_META = META | {"source", "version", "providers"}


def faults_of(body: dict, known: dict, path: str) -> list[str]:
    """What a block has that there is not, and lacks."""
    allowed = {*known["required"], *known["optional"]}
    found, has = [], set()
    for name, value in body.items():
        if name == "dynamic":
            for inner, block in ((key, it) for one in value for key, it in one.items()):
                has.add(inner)
                for content in block["content"]:
                    found += block_faults(inner, content, known, path)
            continue
        has.add(name)
        if name in META:
            continue
        if isinstance(value, list) and value and isinstance(value[0], dict) and name in known["blocks"]:
            for block in value:
                found += block_faults(name, block, known, path)
        elif name not in allowed:
            found.append(f"{path}: there is no {name}")
    return found + [f"{path}: {name} is needed" for name in known["required"] if name not in has]


def block_faults(name: str, block: dict, known: dict, path: str) -> list[str]:
    if name not in known["blocks"]:
        return [f"{path}: there is no block {name}"]
    return faults_of(block, known["blocks"][name], f"{path}.{name}")


def each_folder(test):
    """A test that is made of every module and example."""

    @functools.wraps(test)
    def run(self):
        for folder in terraform.folders():
            with self.subTest(f"{folder.parent.name}/{folder.name}"):
                test(self, folder)

    return run


class Modules(unittest.TestCase):
    def test_all_are_looked_at(self):
        self.assertEqual(len(terraform.folders()), 11)
        self.assertGreater(sum(len(terraform.resources(it)) for it in terraform.folders()), 60)

    @each_folder
    def test_resources_attributes_and_blocks_are_those_of_the_providers(self, folder):
        for kind, type_, name, body in terraform.resources(folder):
            self.assertEqual(faults_of(body, PROVIDERS[f"{kind} {type_}"], f"{type_}.{name}"), [])

    def test_what_a_provider_does_not_have_is_found(self):
        known = PROVIDERS["resource aws_s3_bucket_versioning"]
        body = {"buckets": "x", "versioning_configuration": [{"state": "Enabled"}]}
        wanted = [
            "it: there is no buckets",
            "it.versioning_configuration: there is no state",
            "it.versioning_configuration: status is needed",
            "it: bucket is needed",
        ]
        self.assertEqual(faults_of(body, known, "it"), wanted)

    @each_folder
    def test_variables_and_outputs_are_described(self, folder):
        for name, body in terraform.named(folder, "variable").items():
            self.assertIn("type", body, name)
            self.assertTrue(body.get("description"), name)
        for name, body in terraform.named(folder, "output").items():
            self.assertTrue(body.get("description"), name)

    @each_folder
    def test_everything_that_is_named_is_there_and_used(self, folder):
        text = terraform.text(folder)
        variables = set(terraform.named(folder, "variable"))
        self.assertEqual(set(re.findall(r"\bvar\.([a-z0-9_]+)", text)), variables)
        known = {name for it in terraform.module(folder).get("locals", []) for name in it}
        self.assertEqual(set(re.findall(r"\blocal\.([a-z0-9_]+)", text)), known)
        declared = {f"{type_}.{name}" for _, type_, name, _ in terraform.resources(folder)}
        named = set(re.findall(r"\b((?:aws|random|helm|kubernetes)_[a-z0-9_]+\.[a-z_]+)\b", text))
        self.assertLessEqual(named, declared)

    @each_folder
    def test_calls_fit_the_modules(self, folder):
        for name, call in terraform.named(folder, "module").items():
            target = (folder / call["source"]).resolve()
            variables = terraform.named(target, "variable")
            given = set(call) - MODULE_META
            self.assertLessEqual(given, set(variables), name)
            needed = {it for it, body in variables.items() if "default" not in body}
            self.assertLessEqual(needed, given, name)
            outputs = set(terraform.named(target, "output"))
            named = re.findall(rf"\bmodule\.{name}\.([a-z0-9_]+)", terraform.text(folder))
            self.assertLessEqual(set(named), outputs, name)

    @each_folder
    def test_providers_are_pinned_and_only_examples_set_them_up(self, folder):
        [settings] = terraform.module(folder)["terraform"]
        self.assertEqual(settings["required_version"], ">= 1.6")
        [wanted] = settings["required_providers"]
        used = {type_.split("_")[0] for _, type_, _, _ in terraform.resources(folder)}
        self.assertLessEqual(used, set(wanted))
        self.assertEqual("provider" in terraform.module(folder), folder.parent.name == "examples")
        self.assertNotIn("backend", settings)
        for version in wanted.values():
            self.assertRegex(version["version"], r"^~> \d+\.\d+$")

    @each_folder
    def test_passwords_are_sensitive(self, folder):
        secret = re.compile(r"password|(cql|redis|nats)_url$")
        for kind in ("variable", "output"):
            for name, body in terraform.named(folder, kind).items():
                if secret.search(name):
                    self.assertIs(body.get("sensitive"), True, name)

    def test_format(self):
        tool = shutil.which("terraform") or shutil.which("tofu")
        if not tool:
            self.skipTest("neither terraform nor tofu is here: the format was not checked")
        command = [tool, "fmt", "-check", "-recursive", terraform.FOLDER]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


class Segments(unittest.TestCase):
    """The lifecycle of segments is by the classes of libs/store."""

    def test_each_class_but_the_last_expires_after_its_life(self):
        source = (terraform.ROOT / "libs/store/src/segment/name.rs").read_text()
        classes = re.findall(r'Self::(\w+) => "(\w+)"', source)
        names = [name for _, name in classes]
        self.assertEqual(names[-1], "keep")
        [known] = terraform.module(terraform.FOLDER / "modules" / "storage")["locals"]
        self.assertEqual(list(known["expiry_days"]), names[:-1])
        life = {"h1": 1 / 24, "d1": 1, "d7": 7}
        for name, days in known["expiry_days"].items():
            # A day for the janitor, and the rest of the day that S3 rounds up.
            self.assertGreater(days, life[name] + 1)

    def test_pods_may_do_what_the_store_does(self):
        storage = terraform.text(terraform.FOLDER / "modules" / "storage")
        for action in ("GetObject", "PutObject", "DeleteObject", "ListBucket"):
            self.assertIn(f'"s3:{action}"', storage)


if __name__ == "__main__":
    unittest.main()

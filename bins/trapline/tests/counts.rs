//! What may not grow: names that stand for several things, long files and long functions.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sources;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use sources::rust_files;

/// Names of types that several files define. Whoever removes one lowers the number.
const SHARED_NAMES: usize = 46;
/// Files of more than 400 lines.
const LONG_FILES: usize = 1;
/// Functions of more than 80 lines.
const LONG_FUNCTIONS: usize = 0;

const LONGEST_FILE: usize = 400;
const LONGEST_FUNCTION: usize = 80;

#[test]
fn no_name_stands_for_more_types_than_before() {
    let mut files: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| !is_test(path)) {
        for name in types(&text) {
            files.entry(name).or_default().insert(path.clone());
        }
    }
    files.retain(|_, files| files.len() > 1);
    held(
        SHARED_NAMES,
        &files.iter().map(|(name, files)| format!("{name}: {files:?}")).collect::<Vec<_>>(),
    );
}

#[test]
fn files_and_functions_are_no_longer_than_before() {
    let sources = sources();
    let is_long = |text: &str| text.lines().count() > LONGEST_FILE;
    let files = sources.iter().filter(|(_, text)| is_long(text));
    held(LONG_FILES, &files.map(|(path, _)| path.display().to_string()).collect::<Vec<_>>());
    let functions = sources.iter().flat_map(|(path, text)| {
        let long = functions(text).into_iter().filter(|(_, lines)| *lines > LONGEST_FUNCTION);
        long.map(|(name, lines)| format!("{}: {name}, {lines} lines", path.display()))
    });
    held(LONG_FUNCTIONS, &functions.collect::<Vec<_>>());
}

/// Fails when there are more than before.
fn held(most: usize, found: &[String]) {
    assert!(found.len() <= most, "{} instead of {most}:\n{}", found.len(), found.join("\n"));
}

/// Every file of the libraries and executables, tests beside the code too.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["libs", "bins"] {
        for package in fs::read_dir(root.join(folder)).unwrap() {
            let files = rust_files(&package.unwrap().path().join("src"));
            found.extend(
                files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())),
            );
        }
    }
    assert!(found.len() > 300, "{}", found.len());
    found
}

fn is_test(path: &Path) -> bool {
    let is = |name: &str| path.components().any(|part| part.as_os_str() == name);
    path.ends_with("tests.rs") || is("tests") || is("conformance")
}

/// The types that a text defines at the top of a module.
fn types(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let found = code.lines().filter_map(|line| {
        let (kind, rest) = without_visibility(line).split_once(' ')?;
        let is_type = matches!(kind, "struct" | "enum" | "trait" | "type" | "union");
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        (is_type && end > 0).then(|| rest[..end].to_owned())
    });
    found.collect()
}

fn without_visibility(line: &str) -> &str {
    match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ").map_or("", |(_, rest)| rest),
        Some(rest) => rest.strip_prefix(' ').unwrap_or_default(),
        None => line,
    }
}

/// The functions of a text as rustfmt leaves it, and how many lines each has.
fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<_> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some(name) = function(code) else { continue };
        let mut rest = lines[start..].iter();
        let opens = rest.clone().take_while(|line| !line.ends_with(';'));
        if line.ends_with('}') || !opens.into_iter().any(|line| line.ends_with('{')) {
            continue;
        }
        let close = format!("{}}}", " ".repeat(line.len() - code.len()));
        if let Some(length) = rest.position(|line| **line == close) {
            found.push((name, length + 1));
        }
    }
    found
}

fn function(code: &str) -> Option<String> {
    let mut rest = without_visibility(code);
    for word in ["const ", "async "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let rest = rest.strip_prefix("fn ")?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(rest[..end].to_owned())
}

#[test]
fn types_and_functions_are_found_as_they_are_written() {
    let text = "pub struct A<T>(T);\npub(crate) enum B {}\ntrait C {\n    type D;\n}\n\
                impl A {\n    pub(super) const fn e() -> u8 {\n        1\n    }\n\n    fn f();\n}\n\
                async fn g(\n    a: u8,\n) -> u8 {\n    a\n}\n";
    assert_eq!(types(text), ["A", "B", "C"]);
    let expected = [("e", 3), ("g", 5)].map(|(name, lines)| (name.to_owned(), lines));
    assert_eq!(functions(text), expected);
}

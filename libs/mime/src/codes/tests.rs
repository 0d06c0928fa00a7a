use super::{find, vocabulary};

/// Labelled mails: codes, subject, text, html; split by tabs, `\n` for line breaks, `-` for none.
const CORPUS: &str = include_str!("corpus.tsv");

#[test]
fn corpus_is_labelled_as_people_would() {
    let mut wrong = Vec::new();
    let mut cases = 0;
    for line in CORPUS.lines().filter(|line| !(line.is_empty() || line.starts_with('#'))) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [expected, subject, text, html] = columns[..] else {
            panic!("not four columns: {line}")
        };
        let given = |column: &str| (column != "-").then(|| column.replace("\\n", "\n"));
        let expected: Vec<&str> = expected.split(',').filter(|code| *code != "-").collect();
        let subject = given(subject).unwrap_or_default();
        let found = find(&subject, given(text).as_deref(), given(html).as_deref());
        if found != expected {
            wrong.push(format!("{found:?} for {line}"));
        }
        cases += 1;
    }
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(cases >= 60, "only {cases} cases");
}

/// Languages that each kind of word is there for; tests/corpus has mails in each.
const LANGUAGES: &str =
    "ar cs da de el en es fi fr he hi id it ja ko nb nl pl pt ru sv tr uk vi zh";

#[test]
fn every_language_has_its_words() {
    for kind in ["name", "other", "purpose", "number", "unit"] {
        let known: Vec<_> =
            vocabulary::lines(kind).flat_map(|(languages, _)| languages.split(' ')).collect();
        for language in LANGUAGES.split(' ') {
            assert!(known.contains(&language), "no {kind} in {language}");
        }
    }
    for words in [
        &vocabulary::NAMES,
        &vocabulary::NAMES_OR_PURPOSES,
        &vocabulary::NAMES_AFTER,
        &vocabulary::OTHER_CODES,
        &vocabulary::PURPOSES,
        &vocabulary::VERBS,
        &vocabulary::NUMBERS,
        &vocabulary::UNITS,
    ] {
        assert!(words.is_some(), "a pattern is none");
    }
}

#[test]
fn hostile_text_takes_linear_time() {
    // Quadratic work would take minutes here.
    let pieces = [
        "pin-",
        "code 1234\n",
        "1.1.",
        "invit郵便番号",
        "1 ",
        "order ",
        "12:34a@",
        "www.",
        "code ",
    ];
    for piece in pieces {
        let text = piece.repeat(300_000 / piece.len());
        assert!(find("code", Some(&text), None).len() <= crate::limits::CODES);
    }
}

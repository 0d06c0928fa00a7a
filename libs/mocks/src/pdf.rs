//! A small document, in place of those that providers make.

use crate::MockReply;

/// Letters of a line.
const MAX_LINE: usize = 90;

/// A reply that is a page with these lines (ISO 32000-1). Letters that are not plain are question marks.
pub(crate) fn reply(lines: &[&str]) -> MockReply {
    let headers = vec![("content-type".to_owned(), "application/pdf".to_owned())];
    MockReply { status: 200, headers, body: document(lines) }
}

fn document(lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| format!("({}) '", escaped(line))).collect();
    let text = format!("BT /F1 12 Tf 16 TL 72 720 Td {} ET", lines.join(" "));
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R \
         /Resources << /Font << /F1 4 0 R >> >> >>"
            .to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{text}\nendstream", text.len()),
    ];
    let (mut file, mut places) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (place, object) in objects.iter().enumerate() {
        places.push(format!("{:010} 00000 n \n", file.len()));
        file = file + &(place + 1).to_string() + " 0 obj\n" + object + "\nendobj\n";
    }
    let (start, count, places) = (file.len(), objects.len() + 1, places.concat());
    let table = format!("xref\n0 {count}\n0000000000 65535 f \n{places}");
    let trailer = format!("trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    file + &table + &trailer
}

fn escaped(line: &str) -> String {
    let plain =
        |letter: char| if letter.is_ascii_graphic() || letter == ' ' { letter } else { '?' };
    let letters = line.chars().take(MAX_LINE).map(plain);
    letters
        .flat_map(|letter| match letter {
            '(' | ')' | '\\' => vec!['\\', letter],
            _ => vec![letter],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn objects_are_where_the_table_says() {
        let file = document(&["A (line) \\", "Ünïcode"]);
        assert!(
            file.is_ascii() && file.contains("(A \\(line\\) \\\\) '") && file.contains("(?n?code)")
        );
        let start: usize =
            file.split("startxref\n").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
        assert!(file[start..].starts_with("xref\n"));
        for (number, line) in file[start..].lines().skip(3).take(5).enumerate() {
            let place: usize = line[..10].parse().unwrap();
            assert!(file[place..].starts_with(&format!("{} 0 obj", number + 1)), "{line}");
        }
    }
}

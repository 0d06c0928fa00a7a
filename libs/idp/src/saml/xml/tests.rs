use super::*;

fn saml(name: &'static str) -> Element {
    Element::new(Namespace::Saml, name)
}

#[test]
fn prefixes_are_declared_where_they_are_first_visibly_used() {
    let response = Element::new(Namespace::Samlp, "Response")
        .child(saml("Issuer").text("it"))
        .child(saml("Assertion").child(saml("Issuer").text("it")));
    assert_eq!(
        response.canonical(),
        "<samlp:Response xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\">\
         <saml:Issuer xmlns:saml=\"urn:oasis:names:tc:SAML:2.0:assertion\">it</saml:Issuer>\
         <saml:Assertion xmlns:saml=\"urn:oasis:names:tc:SAML:2.0:assertion\">\
         <saml:Issuer>it</saml:Issuer></saml:Assertion></samlp:Response>"
    );
}

#[test]
fn attributes_are_in_order_and_empty_elements_have_two_tags() {
    let element = saml("A").with("b", "1").with("Z", "2").with("a", "3").with("b", "4");
    let text = element.canonical();
    let (_, attributes) = text.split_once("assertion\"").unwrap_or_default();
    assert_eq!(attributes, " Z=\"2\" a=\"3\" b=\"4\"></saml:A>");
}

#[test]
fn values_are_escaped_as_canonical_xml_has_them() {
    let value = "&<>\"'\t\n]]>\u{1f600}\u{fffe}\0\u{b}";
    let text = saml("A").with("a", value).text(value).canonical();
    assert!(text.contains(" a=\"&amp;&lt;>&quot;'&#x9;&#xA;]]>\u{1f600}\""), "{text}");
    assert!(text.ends_with(">&amp;&lt;&gt;\"'\t\n]]&gt;\u{1f600}</saml:A>"), "{text}");
}

#[test]
fn ends_of_lines_become_line_feeds() {
    let text = saml("A").text("a\r\nb\rc\r\r\n\nd\r").canonical();
    assert!(text.ends_with(">a\nb\nc\n\n\nd\n</saml:A>"), "{text}");
}

#[test]
fn comments_are_sent_and_not_signed() {
    let mut element = saml("A").text("a");
    element.children.push(Node::Comment);
    let element = element.text("b");
    assert!(element.canonical().ends_with(">ab</saml:A>"));
    assert!(element.document().ends_with(">a<!-- -->b</saml:A>"));
}

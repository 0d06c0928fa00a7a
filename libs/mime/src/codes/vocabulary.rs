//! Words that speak of codes, and of other numbers.

use std::sync::LazyLock;

use regex::Regex;

/// `\pL` stands for the letters of the languages here that have an alphabet, and `\d` for ASCII digits: with those of
/// all scripts, of which each place in a pattern has its own copy, the patterns took megabytes.
pub(super) fn words(patterns: &[&str]) -> Option<Regex> {
    let patterns = patterns.join("|");
    let patterns = patterns.replace(r"\pL", r"[a-z\u{C0}-\u{52F}]").replace(r"\d", "[0-9]");
    Regex::new(&format!("(?i)(?:{patterns})")).ok()
}

/// Names of one-time codes.
pub(super) static NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| words(NAME_PATTERNS));

/// Names of codes and [`PURPOSES`]: a message without any of them has no code.
pub(super) static NAMES_OR_PURPOSES: LazyLock<Option<Regex>> =
    LazyLock::new(|| words(&[NAME_PATTERNS, PURPOSE_PATTERNS].concat()));

const NAME_PATTERNS: &[&str] = &[
    // English, and the code words that other languages took over.
    r"codes?(?-u:\b)|(?-u:\b)(?:otp|pin|2fa|mfa|tan|totp|token)(?-u:\b)|one[- ]time|two[- ]factor",
    r"verification|security (?:number|key)",
    // German.
    r"einmal(?:passwort|kennwort)|verifizierung\pL*",
    // French.
    r"mot de passe (?:temporaire|(?:à usage )?unique)|vérification",
    // Spanish, Portuguese, Italian.
    r"c[óo]digo|contraseña (?:temporal|de un solo uso)|(?-u:\b)clave(?-u:\b)|verificaci[óo]n",
    r"verificação|codice",
    // Slavic, Nordic, Turkish.
    r"(?-u:\b)kod(?:e|en|u|unuz)?(?-u:\b)|(?:^|[^\pL])код(?:а|у|ом)?(?:$|[^\pL])",
    // Japanese, Chinese, Korean.
    r"コード|認証番号|確認番号|暗証番号|ワンタイム|検証",
    r"[验驗][证證][码碼]|校[验驗][码碼]|[确確][认認][码碼]|[动動][态態](?:密)?[码碼]|一次性|安全[码碼]",
    r"登[录錄][码碼]|口令|인증\s?번호|확인\s?번호|코드",
];

/// Names that end in a code word and mean another number.
pub(super) static OTHER_CODES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(&[
        r"(?:promo(?:tion|tional)?|coupon|voucher|discount|gift(?: card)?|referral|invit(?:e|ation)|offer|reward|rebate)[- ]?(?:codes?|number)",
        r"(?:zip|post|postal|area|country|dialing|bar|qr|error|status|exit|response|source|dress|product|item|color|colour|currency|sort|swift|bank|tax|booking|reservation|order|tracking|shipping|reference|class|model|html|build)[- ]?codes?",
        r"(?:gutschein|rabatt|aktions|fehler|buchungs|bar|quell)-?codes?|codes? (?:promo\pL*|postal\pL*|de réduction|barres|erreur)",
        r"c[óo]digos? (?:postal|de descuento|promocional|de error|de barras)|code of conduct|codebase|(?-u:\b)(?:en|de)codes?",
        r"クーポン[\u{3040}-\u{30FF}\u{4E00}-\u{9FFF}]*|エラーコード|郵便番号|バーコード|优惠码|優惠碼|邮政编码|错误代码",
    ])
});

/// Reasons for a person to act that often go with a code.
pub(super) static PURPOSES: LazyLock<Option<Regex>> = LazyLock::new(|| words(PURPOSE_PATTERNS));

const PURPOSE_PATTERNS: &[&str] = &[
    r"verify(?:ing)?|confirm(?-u:\b)|sign(?:ing)?[- ]?(?:in|up)|log(?:ging)?[- ]?in|authenticat\pL+|reset your password|complete (?:your )?registration",
    r"bestätig\pL*|anmeld\pL*|einlogg\pL*|connecte[rz]|confirme[rz]|vérifie[rz]|iniciar sesión|verifi(?:car|que)|confirmar|acceder",
    r"ログイン|サインイン|登[录錄]|注册|註冊|身份",
];

/// Verbs right before a code: "enter 482913".
pub(super) static VERBS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(&[
        r"(?-u:\b)(?:use|enter|type|input|submit|with)(?:[\s:]+|$)",
        r"(?:gib|geben sie|verwenden sie|nutze|eingeben|saisissez|entrez|utilisez|introduzca|introduce|ingrese|ingresa|usa|utiliza)[\s:]+",
        r"输入|輸入|使用|入力",
    ])
});

/// Words that point to the next line, at the end of a sentence.
pub(super) const BELOW: &[&str] = &["below", "following", "unten", "ci-dessous", "abajo", "abaixo"];

/// Words that mail writes in capitals on lines of their own.
pub(super) const SHOUTED: &[&str] = &[
    "ACCEPT",
    "ACTIVATE",
    "APPROVE",
    "BUTTON",
    "CANCEL",
    "CLICK",
    "CONTINUE",
    "COPY",
    "DANKE",
    "DEAR",
    "DENY",
    "ENTER",
    "EXPIRED",
    "EXPIRES",
    "GREETINGS",
    "HELLO",
    "HELP",
    "HERE",
    "HOME",
    "IGNORE",
    "IMPORTANT",
    "INFO",
    "NEXT",
    "NOTE",
    "NOTICE",
    "OPEN",
    "PLEASE",
    "REGARDS",
    "RESEND",
    "SECURITY",
    "SHOP",
    "START",
    "SUBMIT",
    "SUPPORT",
    "THANKS",
    "UNSUBSCRIBE",
    "UPDATE",
    "URGENT",
    "WARNING",
    "WEITER",
    "WELCOME",
];

/// Names of numbers that are no codes.
pub(super) static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    words(&[
        r"(?-u:\b)order\s{0,3}(?:number|no(?-u:\b)|id(?-u:\b)|nr|ref|confirmation|#|:|is(?-u:\b)|\d)|invoice|receipt|(?-u:\b)ref(?:erence)?(?-u:\b)\.?|booking|reservation|ticket|tracking|shipment|parcel",
        r"(?:account|customer|member(?:ship)?|case|item|article|part|model|serial|user|transaction|request|session|policy|contract|license|employee|student)[\s-]{0,3}(?:number|no(?-u:\b)|id(?-u:\b)|#|:|\d)",
        r"phone (?:number|no)|ending(?: (?:in|with))?|last (?:four|4) digits|(?-u:\b)(?:tel|fax|call|hotline|telefon|suite|floor|box|room|sku|ean|isbn|iban|vat|port|build|version|flight|gate|year|since)(?-u:\b)",
        r"amount|total|price|balance|©|\(c\)|copyright|all rights|(?-u:\b)(?:ca|ny|tx)\s",
        r"bestell\pL*|rechnung\pL*|kunden\pL*|auftrag\pL*|sendung\pL*|konto\pL*|vertrag\pL*|betrag|plz|artikel\pL*|vorgang\pL*",
        r"commande|facture|colis|suivi|dossier|num[ée]ro de (?:client|compte)|téléphone|montant|référence|réservation",
        r"pedido|factura|seguimiento|referencia|n[úu]mero de (?:cuenta|cliente)|teléfono|importe|reserva",
        r"注文|請求|会員番号|お客様番号|追跡|予約|電話|订单|訂單|发票|單號|单号|客户|会员|快递|尾号|电话|房间|编号",
    ])
});

/// What makes the number before it an amount.
pub(super) static UNITS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = [
        "minutes?|mins?|hours?|hrs?|days?|seconds?|secs?|weeks?|months?|years?|points?|miles|meters",
        "users?|people|customers?|members|items?|products?|reviews?|steps|orders|emails?|messages",
        "views|likes|followers|calories|kcal|km|kg|kb|mb|gb|tb|px|words|characters|times|credits",
        "minuten|stunden|tagen?|sekunden|punkte|jours|heures|secondes|minutos|horas|días|segundos",
    ];
    let words = words.join("|");
    Regex::new(&format!(
        r"(?i)^(?:\s?(?:%|分|秒|時間|小时|天|日|人|件|个|ポイント|积分)|[\s-]?(?:{words})(?-u:\b))"
    ))
    .ok()
});

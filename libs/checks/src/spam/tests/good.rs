//! Mails as good applications send them: sign-up, reset, receipt, invitation and newsletter.

use super::mails::Mail;

/// A language: subject, heading and text of five mails, and what their button says.
type Language = [(&'static str, &'static str); 5];

const LANGUAGES: [(&str, Language); 6] = [
    (
        "en",
        [
            (
                "Confirm your address",
                "Welcome to Harbour, Ada. Please confirm that this address is yours; the link works for one day. If you did not sign up, there is nothing for you to do.",
            ),
            (
                "Reset your password",
                "Somebody asked for a new password for your account. The link works for an hour and only once. If it was not you, your password stays as it is.",
            ),
            (
                "Your receipt 2026-0042",
                "Thank you for your payment of 12.00 EUR on 2 March 2026. The invoice is in your account, and you do not have to do anything else.",
            ),
            (
                "Grace invites you to Harbour",
                "Grace Hopper would like you to join the team Navy at Harbour. Accept the invitation within seven days to see its projects.",
            ),
            (
                "What is new in March",
                "This month the search got faster, the calendar shows weeks, and there are shortcuts for everything you do often. Read what else changed.",
            ),
        ],
    ),
    (
        "de",
        [
            (
                "Bestätigen Sie Ihre Adresse",
                "Willkommen bei Harbour, Ada. Bitte bestätigen Sie, dass diese Adresse Ihnen gehört; der Link gilt einen Tag. Wenn Sie sich nicht angemeldet haben, müssen Sie nichts tun.",
            ),
            (
                "Passwort zurücksetzen",
                "Jemand hat ein neues Passwort für Ihr Konto angefordert. Der Link gilt eine Stunde und nur einmal. Wenn Sie es nicht waren, bleibt alles, wie es ist.",
            ),
            (
                "Ihre Rechnung 2026-0042",
                "Vielen Dank für Ihre Zahlung von 12,00 EUR am 2. März 2026. Die Rechnung liegt in Ihrem Konto, Sie müssen nichts weiter unternehmen.",
            ),
            (
                "Grace lädt Sie ein",
                "Grace Hopper möchte, dass Sie dem Team Navy bei Harbour beitreten. Nehmen Sie die Einladung innerhalb von sieben Tagen an, um die Projekte zu sehen.",
            ),
            (
                "Neues im März",
                "In diesem Monat wurde die Suche schneller, der Kalender zeigt Wochen, und für alles, was Sie oft tun, gibt es Kürzel. Lesen Sie, was sich sonst geändert hat.",
            ),
        ],
    ),
    (
        "fr",
        [
            (
                "Confirmez votre adresse",
                "Bienvenue chez Harbour, Ada. Merci de confirmer que cette adresse est la vôtre ; le lien est valable un jour. Si vous ne vous êtes pas inscrite, vous n'avez rien à faire.",
            ),
            (
                "Nouveau mot de passe",
                "Quelqu'un a demandé un nouveau mot de passe pour votre compte. Le lien est valable une heure et une seule fois. Si ce n'était pas vous, rien ne change.",
            ),
            (
                "Votre reçu 2026-0042",
                "Merci pour votre paiement de 12,00 EUR du 2 mars 2026. La facture se trouve dans votre compte, vous n'avez rien d'autre à faire.",
            ),
            (
                "Grace vous invite",
                "Grace Hopper aimerait que vous rejoigniez l'équipe Navy chez Harbour. Acceptez l'invitation sous sept jours pour voir ses projets.",
            ),
            (
                "Les nouveautés de mars",
                "Ce mois-ci la recherche est plus rapide, le calendrier montre les semaines et il y a des raccourcis pour tout ce que vous faites souvent.",
            ),
        ],
    ),
    (
        "es",
        [
            (
                "Confirme su dirección",
                "Bienvenida a Harbour, Ada. Confirme que esta dirección es suya; el enlace funciona durante un día. Si no se ha registrado, no tiene que hacer nada.",
            ),
            (
                "Restablezca su contraseña",
                "Alguien pidió una contraseña nueva para su cuenta. El enlace funciona durante una hora y solo una vez. Si no fue usted, todo queda como está.",
            ),
            (
                "Su recibo 2026-0042",
                "Gracias por su pago de 12,00 EUR del 2 de marzo de 2026. La factura está en su cuenta y no tiene que hacer nada más.",
            ),
            (
                "Grace le invita a Harbour",
                "Grace Hopper quiere que se una al equipo Navy en Harbour. Acepte la invitación en los próximos siete días para ver sus proyectos.",
            ),
            (
                "Novedades de marzo",
                "Este mes la búsqueda es más rápida, el calendario muestra semanas y hay atajos para todo lo que hace a menudo. Lea qué más ha cambiado.",
            ),
        ],
    ),
    (
        "ru",
        [
            (
                "Подтвердите адрес",
                "Добро пожаловать в Harbour, Ада. Подтвердите, пожалуйста, что этот адрес ваш; ссылка действует один день. Если вы не регистрировались, ничего делать не нужно.",
            ),
            (
                "Новый пароль",
                "Кто-то запросил новый пароль для вашей учётной записи. Ссылка действует один час и только один раз. Если это были не вы, ничего не изменится.",
            ),
            (
                "Ваш чек 2026-0042",
                "Спасибо за оплату 12,00 EUR от 2 марта 2026 года. Счёт лежит в вашей учётной записи, больше ничего делать не нужно, всё уже готово.",
            ),
            (
                "Грейс приглашает вас",
                "Грейс Хоппер хочет, чтобы вы присоединились к команде Navy в Harbour. Примите приглашение в течение семи дней, чтобы увидеть её проекты.",
            ),
            (
                "Новости марта",
                "В этом месяце поиск стал быстрее, календарь показывает недели, и для всего, что вы делаете часто, появились сочетания клавиш. Читайте, что ещё изменилось.",
            ),
        ],
    ),
    (
        "ja",
        [
            (
                "メールアドレスの確認",
                "Harbourへようこそ。このメールアドレスがご本人のものであることをご確認ください。リンクは一日有効です。お心当たりがない場合は何もする必要はありません。",
            ),
            (
                "パスワードの再設定",
                "アカウントの新しいパスワードが要求されました。リンクは一時間有効で、一度だけ使えます。お心当たりがない場合、パスワードは変わりません。",
            ),
            (
                "領収書 2026-0042",
                "お支払いありがとうございます。二〇二六年三月二日に十二ユーロをお受け取りしました。請求書はアカウントでご覧いただけます。ほかに必要な手続きはありません。",
            ),
            (
                "グレースさんからの招待",
                "グレース・ホッパーさんが、HarbourのチームNavyへの参加を希望しています。七日以内に招待を承諾すると、プロジェクトをご覧いただけます。",
            ),
            (
                "三月のお知らせ",
                "今月は検索が速くなり、カレンダーに週が表示されるようになりました。よく使う操作にはショートカットがあります。ほかの変更もぜひご覧ください。",
            ),
        ],
    ),
];

/// Twenty of them, each language with most kinds.
pub(super) fn all() -> Vec<Mail> {
    let mails = LANGUAGES.iter().enumerate().flat_map(|(at, (_, mails))| {
        let skipped = at % 5;
        mails.iter().enumerate().map(move |(kind, mail)| (kind, *mail, kind == skipped))
    });
    let kept = mails.filter(|(.., skipped)| !skipped).take(20);
    kept.map(|(kind, (subject, text), _)| mail(kind, subject, text)).collect()
}

fn mail(kind: usize, subject: &str, text: &str) -> Mail {
    let url = "https://app.harbour.example.com/go?token=0f1e2d3c";
    let html = format!(
        "<!DOCTYPE html><html><body style='background:#fff;color:#111;font-family:sans-serif'>\r\n\
         <div style='display:none;max-height:0'>{subject}</div>\r\n\
         <img src='cid:logo' alt='Harbour' width=120 height=40>\r\n\
         <h1>{subject}</h1>\r\n<p>{text}</p>\r\n\
         <a href='{url}' style='color:#fff;background:#06c;padding:12px'>{subject}</a>\r\n</body></html>\r\n"
    );
    let encoded = |text: &str| {
        let bytes = text.bytes().map(|byte| format!("={byte:02X}"));
        format!("=?utf-8?q?{}?=", bytes.collect::<String>())
    };
    let mail = Mail::good().with("Subject", &encoded(subject));
    let mail = mail.text(&format!("{text}\r\n\r\n{subject}:\r\n{url}\r\n")).html(&html);
    if kind < 4 {
        return mail;
    }
    // A newsletter.
    mail.and("List-Id", "<news.harbour.example.com>")
        .and(
            "List-Unsubscribe",
            "<https://app.harbour.example.com/u?t=0f1e>, <mailto:u@harbour.example.com>",
        )
        .and("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
}

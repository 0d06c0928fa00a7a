"""smtplib: every mechanism, both kinds of TLS, SMTPUTF8, and recovery from errors."""

import smtplib

from sending import (
    FROM, HOST, PASSWORD, PORT, TLS_PORT, TO, USER, message, report, tls, with_attachments,
)


def sign_in(smtp, mechanism, initial_response=True):
    smtp.ehlo()
    smtp.user, smtp.password = USER, PASSWORD
    method = getattr(smtp, "auth_" + mechanism.lower().replace("-", "_"))
    smtp.auth(mechanism, method, initial_response_ok=initial_response)


def send_bytes(smtp, subject):
    mail = message(subject)
    raw = mail.as_bytes()
    smtp.sendmail(FROM, [TO, "second@app.test"], raw)
    report(mail, raw, recipients=[TO, "second@app.test"])


def mechanisms():
    for mechanism in ("PLAIN", "LOGIN", "CRAM-MD5"):
        for initial_response in (True, False):
            with smtplib.SMTP(HOST, PORT) as smtp:
                sign_in(smtp, mechanism, initial_response)
                send_bytes(smtp, f"smtplib {mechanism} {initial_response}")


def encrypted():
    with smtplib.SMTP(HOST, PORT) as smtp:
        smtp.starttls(context=tls())
        smtp.login(USER, PASSWORD)
        send_bytes(smtp, "smtplib STARTTLS")
    with smtplib.SMTP_SSL(HOST, TLS_PORT, context=tls()) as smtp:
        smtp.login(USER, PASSWORD)
        send_bytes(smtp, "smtplib implicit TLS")


def international():
    sender, recipient = "jürgen@exämple.test", "用户@例子.test"
    mail = message("smtplib SMTPUTF8 ☂", sender, recipient)
    with smtplib.SMTP(HOST, PORT) as smtp:
        smtp.login(USER, PASSWORD)
        smtp.send_message(mail)
    report(mail, sender=sender)


def structured():
    mail = with_attachments("smtplib attachments")
    with smtplib.SMTP(HOST, PORT) as smtp:
        smtp.login(USER, PASSWORD)
        smtp.send_message(mail)
    report(mail)


def after_errors():
    with smtplib.SMTP(HOST, PORT) as smtp:
        try:
            smtp.login(USER, "wrong")
            raise AssertionError("a wrong password was accepted")
        except smtplib.SMTPAuthenticationError as error:
            assert error.smtp_code == 535, error
        smtp.login(USER, PASSWORD)
        assert smtp.mail(FROM)[0] == 250
        assert 500 <= smtp.docmd("RCPT", "TO:<no spaces allowed>")[0] < 600
        assert smtp.rset()[0] == 250
        assert smtp.docmd("NONSENSE")[0] == 500
        send_bytes(smtp, "smtplib after errors")


def many():
    with smtplib.SMTP(HOST, PORT) as smtp:
        smtp.login(USER, PASSWORD)
        for number in range(50):
            send_bytes(smtp, f"smtplib many {number:02}")


if __name__ == "__main__":
    for case in (mechanisms, encrypted, international, structured, after_errors, many):
        case()

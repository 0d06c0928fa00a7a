"""aiosmtplib: every mechanism, both kinds of TLS, and connections at once."""

import asyncio

from aiosmtplib import SMTP, SMTPAuthenticationError

from sending import (
    FROM, HOST, PASSWORD, PORT, TLS_PORT, TO, USER, message, report, tls, with_attachments,
)


def plain():
    return SMTP(hostname=HOST, port=PORT, start_tls=False)


async def send_bytes(smtp, subject):
    mail = message(subject)
    raw = mail.as_bytes()
    await smtp.sendmail(FROM, TO, raw)
    report(mail, raw)


async def mechanisms():
    for mechanism in ("plain", "login", "crammd5"):
        async with plain() as smtp:
            await smtp.ehlo()
            await getattr(smtp, "auth_" + mechanism)(USER, PASSWORD)
            await send_bytes(smtp, f"aiosmtplib {mechanism}")


async def encrypted():
    account = {"username": USER, "password": PASSWORD, "tls_context": tls()}
    async with SMTP(hostname=HOST, port=PORT, start_tls=True, **account) as smtp:
        await send_bytes(smtp, "aiosmtplib STARTTLS")
    async with SMTP(hostname=HOST, port=TLS_PORT, use_tls=True, **account) as smtp:
        await send_bytes(smtp, "aiosmtplib implicit TLS")


async def structured():
    mail = with_attachments("aiosmtplib attachments")
    async with plain() as smtp:
        await smtp.login(USER, PASSWORD)
        await smtp.send_message(mail)
    report(mail)


async def wrong_password():
    async with plain() as smtp:
        try:
            await smtp.login(USER, "wrong")
            raise AssertionError("a wrong password was accepted")
        except SMTPAuthenticationError as error:
            assert error.code == 535, error


async def one_of_many(number):
    async with plain() as smtp:
        await smtp.login(USER, PASSWORD)
        for round_ in range(3):
            await send_bytes(smtp, f"aiosmtplib connection {number:02} round {round_}")


async def main():
    for case in (mechanisms, encrypted, structured, wrong_password):
        await case()
    await asyncio.gather(*(one_of_many(number) for number in range(20)))


if __name__ == "__main__":
    asyncio.run(main())

import jakarta.activation.DataHandler;
import jakarta.mail.AuthenticationFailedException;
import jakarta.mail.Message.RecipientType;
import jakarta.mail.MessagingException;
import jakarta.mail.Session;
import jakarta.mail.Transport;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeBodyPart;
import jakarta.mail.internet.MimeMessage;
import jakarta.mail.internet.MimeMultipart;
import jakarta.mail.util.ByteArrayDataSource;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.CertificateFactory;
import java.util.HexFormat;
import java.util.Properties;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Jakarta Mail: every mechanism, both kinds of TLS, BDAT, and a multipart message. */
public final class Client {
    private static final String FROM = "sender@app.test";
    private static final String TO = "receiver@app.test";
    private static final byte[] PDF = new byte[100_000];
    private static final String DOTS = "First line.\r\n.\r\n..two dots";

    public static void main(String[] args) throws Exception {
        for (String mechanism : new String[] {"PLAIN", "LOGIN"}) {
            send(with("mail.smtp.auth.mechanisms", mechanism), simple("Jakarta " + mechanism));
        }
        Properties cram = with("mail.smtp.sasl.enable", "true");
        cram.put("mail.smtp.sasl.mechanisms", "CRAM-MD5");
        send(cram, simple("Jakarta CRAM-MD5"));
        send(startTls(), multipart("Jakarta multipart over STARTTLS", DOTS));
        send(implicitTls(), multipart("Jakarta multipart over implicit TLS", DOTS));
        // Jakarta Mail doubles dots in chunks, where RFC 3030 wants them as they are.
        send(with("mail.smtp.chunksize", "4096"), multipart("Jakarta multipart in chunks", "No dots."));
        wrongPassword();
    }

    private static Properties with(String key, String value) {
        Properties properties = new Properties();
        properties.put("mail.smtp.host", env("SMTP_HOST"));
        properties.put("mail.smtp.port", env("SMTP_PORT"));
        properties.put("mail.smtp.auth", "true");
        properties.put(key, value);
        return properties;
    }

    private static Properties startTls() throws Exception {
        Properties properties = with("mail.smtp.starttls.enable", "true");
        properties.put("mail.smtp.starttls.required", "true");
        return trusting(properties);
    }

    private static Properties implicitTls() throws Exception {
        Properties properties = with("mail.smtp.ssl.enable", "true");
        properties.put("mail.smtp.port", env("SMTPS_PORT"));
        return trusting(properties);
    }

    /** Trusts the server's own CA and nothing else. */
    private static Properties trusting(Properties properties) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (FileInputStream ca = new FileInputStream(env("SMTP_CA"))) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(ca));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        properties.put("mail.smtp.ssl.socketFactory", context.getSocketFactory());
        properties.put("mail.smtp.ssl.checkserveridentity", "true");
        return properties;
    }

    private static MimeMessage message(String subject) throws MessagingException {
        MimeMessage message = new MimeMessage(Session.getInstance(new Properties()));
        message.setFrom(new InternetAddress(FROM));
        message.setRecipient(RecipientType.TO, new InternetAddress(TO));
        message.setSubject(subject, "UTF-8");
        return message;
    }

    private static MimeMessage simple(String subject) throws MessagingException {
        MimeMessage message = message(subject);
        message.setText(DOTS, "UTF-8");
        message.saveChanges();
        return message;
    }

    private static MimeMessage multipart(String subject, String body) throws MessagingException {
        MimeBodyPart text = new MimeBodyPart();
        text.setText(body, "UTF-8");
        MimeBodyPart file = new MimeBodyPart();
        file.setDataHandler(new DataHandler(new ByteArrayDataSource(PDF, "application/pdf")));
        file.setFileName("report.pdf");
        MimeMessage message = message(subject);
        message.setContent(new MimeMultipart(text, file));
        message.saveChanges();
        return message;
    }

    private static void send(Properties properties, MimeMessage message) throws Exception {
        deliver(properties, message, env("SMTP_PASSWORD"));
        ByteArrayOutputStream raw = new ByteArrayOutputStream();
        message.writeTo(raw);
        String text;
        String attachments = "";
        if (message.getContent() instanceof MimeMultipart parts) {
            text = (String) parts.getBodyPart(0).getContent();
            attachments = "{\"filename\":\"report.pdf\",\"contentType\":\"application/pdf\",\"sha256\":\""
                + sha256(PDF) + "\"}";
        } else {
            text = (String) message.getContent();
        }
        System.out.printf(
            "{\"subject\":\"%s\",\"from\":\"%s\",\"to\":[\"%s\"],\"text\":\"%s\",\"attachments\":[%s],\"raw\":\"%s\"}%n",
            message.getSubject(), FROM, TO, text.replace("\r\n", "\\r\\n"), attachments,
            sha256(endingInLine(raw.toByteArray())));
    }

    private static void deliver(Properties properties, MimeMessage message, String password) throws Exception {
        try (Transport transport = Session.getInstance(properties).getTransport("smtp")) {
            transport.connect(env("SMTP_USER"), password);
            transport.sendMessage(message, message.getAllRecipients());
        }
    }

    private static void wrongPassword() throws Exception {
        try {
            deliver(with("mail.smtp.auth.mechanisms", "PLAIN"), simple("Jakarta refused"), "wrong");
        } catch (AuthenticationFailedException refused) {
            return;
        }
        throw new IllegalStateException("a wrong password was accepted");
    }

    /** DATA ends a last line that has no end (RFC 5321, section 4.1.1.4). */
    private static byte[] endingInLine(byte[] raw) throws Exception {
        if (raw[raw.length - 1] == '\n') {
            return raw;
        }
        ByteArrayOutputStream longer = new ByteArrayOutputStream();
        longer.write(raw);
        longer.write(new byte[] {'\r', '\n'});
        return longer.toByteArray();
    }

    private static String sha256(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    private static String env(String name) {
        return System.getenv(name);
    }
}

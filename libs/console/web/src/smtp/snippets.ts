import type { Schema } from "../api/client";

export interface Snippet {
  id: string;
  label: string;
  /** The configuration, with the inbox's own values. */
  of: (smtp: Required<Schema["SmtpAccess"]>) => string;
}

/** A string literal of JavaScript, Python, Ruby, Java, C# and Go: these share JSON's escapes. */
const quoted = (text: string) => JSON.stringify(text);

export const snippets: Snippet[] = [
  {
    id: "env",
    label: ".env",
    of: ({ host, port, username, password }) =>
      `SMTP_HOST=${host}\nSMTP_PORT=${port}\nSMTP_USERNAME=${username}\nSMTP_PASSWORD=${password}`,
  },
  {
    id: "node",
    label: "Node (Nodemailer)",
    of: ({ host, port, username, password }) => `const transport = nodemailer.createTransport({
  host: ${quoted(host)},
  port: ${port},
  auth: { user: ${quoted(username)}, pass: ${quoted(password)} },
  tls: { rejectUnauthorized: false },
});`,
  },
  {
    id: "django",
    label: "Python (Django)",
    of: ({ host, port, username, password }) => `EMAIL_HOST = ${quoted(host)}
EMAIL_PORT = ${port}
EMAIL_HOST_USER = ${quoted(username)}
EMAIL_HOST_PASSWORD = ${quoted(password)}
EMAIL_USE_TLS = False`,
  },
  {
    id: "laravel",
    label: "PHP (Laravel)",
    of: ({ host, port, username, password }) => `MAIL_MAILER=smtp
MAIL_HOST=${host}
MAIL_PORT=${port}
MAIL_USERNAME=${username}
MAIL_PASSWORD=${password}
MAIL_ENCRYPTION=null`,
  },
  {
    id: "rails",
    label: "Ruby (Rails)",
    of: ({ host, port, username, password }) => `config.action_mailer.delivery_method = :smtp
config.action_mailer.smtp_settings = {
  address: ${quoted(host)},
  port: ${port},
  user_name: ${quoted(username)},
  password: ${quoted(password)},
  authentication: :plain,
  enable_starttls_auto: false
}`,
  },
  {
    id: "spring",
    label: "Java (Spring Boot)",
    of: ({ host, port, username, password }) => `spring.mail.host=${host}
spring.mail.port=${port}
spring.mail.username=${username}
spring.mail.password=${password}
spring.mail.properties.mail.smtp.auth=true`,
  },
  {
    id: "dotnet",
    label: ".NET (MailKit)",
    of: ({ host, port, username, password }) => `using var client = new SmtpClient();
await client.ConnectAsync(${quoted(host)}, ${port}, SecureSocketOptions.None);
await client.AuthenticateAsync(${quoted(username)}, ${quoted(password)});
await client.SendAsync(message);`,
  },
  {
    id: "go",
    label: "Go",
    of: ({
      host,
      port,
      username,
      password,
    }) => `// PLAIN over plain SMTP works with localhost only; elsewhere use STARTTLS.
auth := smtp.PlainAuth("", ${quoted(username)}, ${quoted(password)}, ${quoted(host)})
err := smtp.SendMail(${quoted(`${host}:${port}`)}, auth, from, to, message)`,
  },
  {
    id: "curl",
    label: "curl",
    of: ({ host, port, username, password }) =>
      `printf 'Subject: Hello\\n\\nIt works.\\n' | curl --url smtp://${host}:${port} \\
  --user '${username}:${password}' \\
  --mail-from app@example.com --mail-rcpt ada@example.com --upload-file -`,
  },
];

import type { MailMessage, MailTransporter } from 'framework'

export interface MailApiOptions {
  readonly url: string
  readonly token: string
}

const addressOf = ({ name, address }: { name: string; address: string }) => ({ name, email: address })

/** Sends mail through a company's HTTP API instead of SMTP. */
export class MailApi implements MailTransporter {
  readonly #options: MailApiOptions

  constructor(options: MailApiOptions) {
    this.#options = options
  }

  async sendMail(mail: MailMessage) {
    const { url, token } = this.#options
    const res = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        from: addressOf(mail.from),
        to: mail.to.map(addressOf),
        cc: mail.cc.map(addressOf),
        bcc: mail.bcc.map(addressOf),
        replyTo: mail.replyTo.map(addressOf),
        subject: mail.subject,
        html: mail.html,
        text: mail.text,
        headers: { ...mail.headers, 'Message-ID': mail.messageId },
        attachments: mail.attachments.map(({ filename, content, contentType }) => {
          if (content === undefined) throw new Error('this provider sends the content of attachments, not the path')
          return { filename, contentType, content: Buffer.from(content).toString('base64') }
        }),
      }),
      // Aborts when the attempt takes too long: the mailer keeps the time.
      ...(mail.signal && { signal: mail.signal }),
    })
    if (res.ok) return { accepted: mail.envelope.to, rejected: [] }
    throw Object.assign(new Error(`the mail API answered ${res.status}`), { responseCode: smtpCode(res.status) })
  }
}

/** Returns the equivalent SMTP code: 5xx is a permanent refusal and is not tried again; 4xx may succeed later. */
const smtpCode = (status: number) => (status === 429 || status >= 500 ? 451 : 554)

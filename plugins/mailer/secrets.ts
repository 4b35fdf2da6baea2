import { Buffer } from 'node:buffer'

/** The secret members of nodemailer's option `auth`. */
const names = ['pass', 'accessToken', 'refreshToken', 'clientSecret', 'privateKey'] as const
/** Shorter secrets occur in many other strings. */
const shortest = 4

const encoded = (text: string) => Buffer.from(text).toString('base64')

/** Strings that no message may contain: the passwords of a transporter, as given and as SMTP sends them, because servers repeat them. */
export function secretsOf(transporter: unknown): readonly string[] {
  if (typeof transporter === 'string') return secretsOfAddress(transporter)
  // A transporter of nodemailer has the options that it was created with.
  const { options = transporter } = transporter as { options?: unknown }
  const { auth, url } = (options ?? {}) as { auth?: { readonly [name: string]: unknown }; url?: unknown }
  const own = names.map((name) => auth?.[name]).filter((one) => typeof one === 'string')
  const forms = own.flatMap((secret) => formsOf(String(auth?.user), secret))
  return typeof url === 'string' ? [...forms, ...secretsOfAddress(url)] : forms
}

function secretsOfAddress(address: string): readonly string[] {
  const [, user = '', pass = ''] = /^[^:]*:\/\/([^:@/]*):([^@/]*)@/.exec(address) ?? []
  try {
    return [pass, ...formsOf(decodeURIComponent(user), decodeURIComponent(pass))].filter(isLong)
  } catch {
    return formsOf(user, pass)
  }
}

const isLong = (text: string) => text.length >= shortest

function formsOf(user: string, pass: string): readonly string[] {
  return isLong(pass) ? [encoded(`\0${user}\0${pass}`), encoded(pass), pass] : []
}

/** The text with a placeholder for each of the secrets. */
export function without(secrets: readonly string[], text: string): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '…'), text)
}

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { defineErrors } from '../../kernel/index.ts'

const { PasswordTooLongError, PasswordHashError, PasswordsBusyError } = defineErrors({
  PasswordTooLongError: [422, (max: number) => `the password is longer than ${max} characters`],
  PasswordHashError: (why: string) => `a stored password hash ${why}: it was cut, or another program has written it`,
  PasswordsBusyError: [503, () => 'too many passwords are being checked; try again later'],
})

/** What OWASP recommends for scrypt: 2^17 rounds, which take 128 MB and some 300 ms. */
const current = { ln: 17, r: 8, p: 1 }
/** Characters; a password is as expensive as any other beyond this, but reading it is not free. */
const maxLength = 1_024
/** Each takes 128 MB and one of the 4 threads of libuv, which files and DNS need as well. */
const atOnce = 2
const maxWaiting = 64

type Parameters = typeof current

let running = 0
const waiting: (() => void)[] = []

/** Computes a key; a few at once, because log-ins must not take all threads and all memory. */
async function derive(text: string, salt: Buffer, size: number, { ln, r, p }: Parameters): Promise<Buffer> {
  if (running < atOnce) running++
  else {
    if (waiting.length >= maxWaiting) throw PasswordsBusyError()
    // The turn is passed on, so that a new call cannot take it.
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  try {
    return await new Promise((resolve, reject) => {
      const cost = { N: 2 ** ln, r, p, maxmem: 2 ** ln * r * 128 * 2 }
      scrypt(text.normalize('NFKC'), salt, size, cost, (error, key) => (error ? reject(error) : resolve(key)))
    })
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
const form = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]{11,86})\$([\w+/]{22,86})$/

/** Reads a PHC string. Its parameters are bounded: a hash from elsewhere must not take all memory. */
function parse(hash: string): { readonly parameters: Parameters; readonly salt: Buffer; readonly key: Buffer } {
  const [, ln, r, p, salt, key] = form.exec(hash) ?? []
  if (ln === undefined) throw PasswordHashError('does not have the form $scrypt$ln=…,r=…,p=…$salt$hash')
  const parameters = { ln: Number(ln), r: Number(r), p: Number(p) }
  if (
    parameters.ln < 1 ||
    parameters.ln > 20 ||
    r === '0' ||
    p === '0' ||
    2 ** parameters.ln * Number(r) * Number(p) > 2 ** 23
  )
    throw PasswordHashError('asks for more memory or time than this server gives')
  return { parameters, salt: Buffer.from(salt!, 'base64'), key: Buffer.from(key!, 'base64') }
}

/** For an unknown account; no password has this hash. */
const decoy = `$scrypt$ln=${current.ln},r=${current.r},p=${current.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/**
 * Hashes passwords with scrypt, as PHC strings: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`. Two are computed at once and 64 wait; further
 * calls reject with `PasswordsBusyError`, a 503.
 *
 * @example
 * const hash = await passwords.hash('correct horse battery')
 * await passwords.verify('correct horse battery', hash) // true
 */
export const passwords = {
  /**
   * Returns the hash of a password, with a random salt.
   *
   * @throws (as a rejection) PasswordTooLongError above 1024 characters, with the status 422.
   */
  async hash(text: string): Promise<string> {
    if (text.length > maxLength) throw PasswordTooLongError(maxLength)
    const salt = randomBytes(16)
    const { ln, r, p } = current
    return `$scrypt$ln=${ln},r=${r},p=${p}$${base64(salt)}$${base64(await derive(text, salt, 32, current))}`
  },

  /**
   * Whether a password has a hash. Pass `undefined` for an unknown account: that takes as long, and is false, so that the time does not
   * show which accounts exist.
   *
   * @throws (as a rejection) PasswordHashError for a string that is not a hash.
   */
  async verify(text: string, hash: string | null | undefined): Promise<boolean> {
    const { parameters, salt, key } = parse(hash ?? decoy)
    const isShort = text.length <= maxLength
    const given = await derive(isShort ? text : '', salt, key.length, parameters)
    return timingSafeEqual(given, key) && isShort && hash !== undefined && hash !== null
  },

  /** Whether a hash was made with other parameters than those of today: hash the password again while it is known, at the log-in. */
  needsRehash(hash: string): boolean {
    const { parameters: had, key } = parse(hash)
    return had.ln !== current.ln || had.r !== current.r || had.p !== current.p || key.length < 32
  },
}

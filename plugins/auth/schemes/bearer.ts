import { OptionError, type Request } from '../../../kernel/index.ts'
import { type AuthScheme, type AuthSubject, type Awaitable, bearerOf, ownVerdictOf, wrong } from '../scheme.ts'

/**
 * Authenticates by opaque tokens, `Authorization: Bearer …`: the function returns the caller that a token belongs to, or nothing for a wrong
 * one. If the caller has a list `scopes`, routes may require these.
 *
 * @example
 * const plugin = auth({ schemes: { token: bearer((token) => (token === process.env.TOKEN ? { id: 'ci' } : undefined)) } })
 */
export function bearer(find: (token: string, req: Request) => Awaitable<AuthSubject | null | undefined>): AuthScheme {
  if (typeof find !== 'function') throw OptionError('bearer', find, 'a function (token, req) => subject')
  return {
    challenge: 'Bearer',
    header: 'authorization',
    description: { type: 'http', scheme: 'bearer' },
    async authenticate(req) {
      const token = bearerOf(req)
      if (token === undefined) return undefined
      return token === '' ? wrong : ownVerdictOf(await find(token, req))
    },
  }
}

/**
 * Authenticates by name and password, `Authorization: Basic …` (RFC 7617): the function returns the caller, or nothing for a wrong pair.
 *
 * @example
 * const plugin = auth({ schemes: { staff: basic((name, password) => (name === 'ci' && password === process.env.PASSWORD ? { id: name } : undefined)) } })
 */
export function basic(
  find: (name: string, password: string, req: Request) => Awaitable<AuthSubject | null | undefined>,
): AuthScheme {
  if (typeof find !== 'function') throw OptionError('basic', find, 'a function (name, password, req) => subject')
  return {
    challenge: 'Basic charset="UTF-8"',
    header: 'authorization',
    description: { type: 'http', scheme: 'basic' },
    async authenticate(req) {
      const header = req.raw.header('authorization')
      if (header === undefined || !/^basic\b/i.test(header)) return undefined
      const [, encoded = ''] = /^basic +([\w+/-]+=*)$/i.exec(header) ?? []
      // The first colon ends the name, which has none (RFC 7617 section 2).
      const [, name, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? []
      return name === undefined ? wrong : ownVerdictOf(await find(name, password!, req))
    },
  }
}

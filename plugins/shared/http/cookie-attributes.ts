import { option } from '../options/index.ts'

const word = <const Words extends readonly string[]>(...words: Words) =>
  option
    .name(new RegExp(`^(?:${words.join('|')})$`, 'i'), words.map((one) => `"${one}"`).join(', '))
    .into((given) => given.toLowerCase() as Words[number])

const hostName = /^\.?[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

/** The options that decide where a cookie is sent; its lifetime is checked elsewhere. */
export const cookieAttributes = {
  path: option.name(/^\/[\x20-\x3a\x3c-\x7e]*$/, 'a path that begins with "/", printable ASCII without ";"'),
  domain: option.name(hostName, 'a host name'),
  secure: option.flag(),
  httpOnly: option.flag(),
  sameSite: option.either(word('strict', 'lax', 'none'), option.flag()),
  priority: word('low', 'medium', 'high'),
  partitioned: option.flag(),
}

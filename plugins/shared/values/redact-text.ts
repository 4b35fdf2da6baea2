import { isSecretElement, isSecretName, redacted } from './redact.ts'

type IsHidden = (name: string) => boolean
/** Where a value begins and ends. */
type Range = readonly [from: number, to: number]

/**
 * Returns text without what looks like a secret. What follows the name of one is hidden up to where its structure ends: a closing quote, the
 * end of a query parameter, an element. Everything else is hidden up to the end of its line, with the indented lines after it.
 *
 * Each pass reads a character a bounded number of times: a client may have written all of the text.
 */
export function redactText(text: string, isHidden: IsHidden = isSecretName): string {
  // Nothing that is looked for begins in a word or a path, and most texts are one.
  if (/^(?:\/?[\w-])*\/?$/.test(text)) return text
  // Addresses come first: the password in one may look like the name of a secret, and what follows that like its value.
  return withoutCredentials(withoutNamed(withoutElements(withoutLogins(withoutKeys(text)), isHidden), isHidden))
}

/** Text that was cut, before the word that is incomplete: half of an address or of a token does not look like one. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  const from = Math.max(0, most - 256)
  const word = text.slice(from, most).search(/\S+$/)
  return `${text.slice(0, word > 0 ? from + word : most)}…`
}

/** Hides the ranges that `rangeOf` returns for the matches; continues after the range. */
function hide(text: string, begins: RegExp, rangeOf: (match: RegExpExecArray) => Range | undefined): string {
  let shown = ''
  let done = 0
  for (const match of text.matchAll(begins)) {
    if (match.index < done) continue
    const range = rangeOf(match)
    if (range === undefined || range[1] <= range[0]) continue
    shown += text.slice(done, range[0]) + redacted
    done = range[1]
  }
  return shown + text.slice(done)
}

/** The length of what a sticky expression matches at a place; `undefined` if it does not match. */
function lengthAt(expression: RegExp, text: string, at: number): number | undefined {
  expression.lastIndex = at
  return expression.exec(text)?.[0].length
}

const endOr = (text: string, found: number) => (found === -1 ? text.length : found)

function withoutKeys(text: string): string {
  return hide(text, /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY-----/g, ({ 0: begin, index }) => [
    index,
    endOr(text, text.indexOf('-----END ', index + begin.length)),
  ])
}

const stackFrame = /[ \t]+at (?:[^()\n]*\([^()\n]*\)|[^\s()]+:\d+)\r?(?:\n|$)/y

const endOfLine = (text: string, from: number) => endOr(text, text.indexOf('\n', from))

/** The number of blanks with which a line begins. */
const indentAt = (text: string, at: number) => lengthAt(/[ \t]*/y, text, at) ?? 0

/**
 * The end of a value: of its line, and of the lines after it that are indented more than that of its name. A value that `opens` a quote or a
 * bracket may end in the next line; the rest of the text is hidden if it is that of a name in quotes, in JSON that is not indented or was cut.
 */
function endOfBlock(text: string, name: number, from: number, opens: boolean, isJson: boolean): number {
  const first = endOfLine(text, from)
  const line = text.slice(from, first).trimEnd()
  const indent = indentAt(text, text.lastIndexOf('\n', name) + 1)
  const isFrame = (at: number) => lengthAt(stackFrame, text, at) !== undefined
  const isOpen = opens && isJson
  const isCut = isFrame(first + 1) && !/[\])}"'`]$/.test(line)
  if (isOpen && (isCut || indentAt(text, first + 1) <= indent)) return text.length
  let end = first
  while (end < text.length) {
    const next = end + 1
    const mayGoOn = isOpen
      ? lengthAt(/[ \t]*(?:[\])}]|["'`]?[\w$-]{1,64}["'`]?:)/y, text, next) === undefined
      : end === first && (opens || line === '') && lengthAt(/[^\n:=]{0,64}[:=]/y, text, next) === undefined
    if (!(indentAt(text, next) > indent || mayGoOn) || isFrame(next)) break
    end = endOfLine(text, next)
  }
  return end
}

/** The host of an address and its port, which is not the name of a user and a password. */
const hostAndPort = /^(?:localhost|\[.*|[^:]*\.[^:]*):\d{0,5}(?!\w)/

/** Hides user and password in addresses, which drivers include in the messages of their errors, however the password is escaped. */
function withoutLogins(text: string): string {
  // Lines, so that the "@" in one is not looked for again for each of its addresses.
  return text.replace(/.+/g, (line) => {
    const lastAt = line.lastIndexOf('@')
    let wordEnd = 0
    let wordAt = -1
    return hide(line, /\/\\?\/(?=([^\s/?#\\"<>]*))/g, ({ 0: slashes, 1: authority = '', index }) => {
      const from = index + slashes.length
      const colon = authority.indexOf(':')
      const isLogin = authority.includes('@')
      if ((!isLogin && colon === -1) || (!isLogin && hostAndPort.test(authority))) return undefined
      if (from >= wordEnd) {
        wordEnd = from + (lengthAt(/[^\s<>"]*/y, line, from) ?? 0)
        wordAt = from + line.slice(from, wordEnd).lastIndexOf('@')
      }
      if (wordAt > from) return [from, wordAt]
      // Without an "@", it may be a host that has no dot in its name.
      if (/^\d{0,5}(?!\w)/.test(authority.slice(colon + 1))) return undefined
      return [from, lastAt > from ? lastAt : wordEnd]
    })
  })
}

/** Where the end of an element is looked for; each `<token>` in a long text may begin one. */
const longestElement = 8_192

/** Hides the content of elements whose name is that of a secret, and the attributes of elements whose `name` or `key` is. */
function withoutElements(text: string, isHidden: IsHidden): string {
  return hide(text, /<([\w.:-]{1,64})(?=[\s>])([^<>]*)>/g, ({ 0: tag, 1: name = '', 2: attributes = '', index }) => {
    const end = index + tag.length
    if (isHidden(name)) {
      if (tag.endsWith('/>')) return undefined
      const closing = text.slice(end, end + longestElement).indexOf(`</${name}`)
      // The text was cut, or it is a sentence about a `<token>`, which may have a stack after it.
      return [end, closing === -1 ? endOr(text, text.indexOf('\n    at ', end)) : end + closing]
    }
    const named = /\s(?:name|key|id)\s{0,8}=\s{0,8}["']?([\w.:[\]-]{1,64})/i.exec(attributes)?.[1]
    const hasValue = named !== undefined && /\s(?:value|content)\s{0,8}=/i.test(attributes) && isHidden(named)
    return hasValue ? [index + 1 + name.length, end - 1] : undefined
  })
}

/** The name before a separator: one or two words, with the quotes and brackets around them, as in forms, JSON and lists of JSON. */
const nameBefore =
  /(?:%[\da-f]{2})*((?:[\w.$-]+(?: |%20|\+))?([\w.$-]+))((?:\\*["'`]|\]|\[\d*\]|%5[bd]|%22)*)[ \t]{0,8}$/i
/** Values that are not secret, and types of GraphQL. */
const harmless =
  /(?:undefined|null|true|false|\[redacted\]|(["'`])\1|\[{0,4}(?:String|ID|Int)\b[!\]]*)(?=[ \t]*(?:$|[\r\n)}\]]|[,&]))/y
/** What may follow a value that has ended: the end of what surrounds it, or the next name. */
const afterValue =
  /[ \t]{0,8}(?:$|[\r\n)}\]>]|[/?]>|\\*["'`][)}\],\s]|[,\s]\s{0,200}[\\"'`[]{0,8}[\w.$ -]{1,64}[\\"'`\]]{0,8}\s{0,8}[:=])/y
/** A quoted value in which nothing is escaped; quotes in JSON within JSON have backslashes themselves. */
const quotedValue = /\[redacted\]|(["'`])(?:(?!\1)[^\\\n])*\1|(\\{1,64}["'`])[^\\"'`\n]*\2/y

/** Hides what follows the name of a secret and a separator: `:`, `=`, escaped as in addresses, or the "," of a list of headers. */
function withoutNamed(text: string, isHidden: IsHidden): string {
  return hide(text, /[:=]|%3[ad]|,(?=\s{0,200}\\*["'`])/gi, ({ 0: separator, index }) => {
    const before = text.slice(Math.max(0, index - 100), index)
    const found = nameBefore.exec(before)
    if (found === null) return undefined
    const [, both = '', last = '', closers = ''] = found
    const isQuoted = /["'`]/.test(closers)
    if (
      separator === ','
        ? !isQuoted || !isSecretElement([last], 1)
        : !isHidden(both.replace(/%20|\+/, ' ')) && !isHidden(last)
    )
      return undefined

    let from = index + separator.length
    if (separator.startsWith('%')) return [from, from + (lengthAt(/[^\s&"<>]*/y, text, from) ?? 0)]
    from += lengthAt(isQuoted ? /[=>]*\s*/y : /[:=>]{0,3}[ \t]*/y, text, from) ?? 0
    if (lengthAt(harmless, text, from) !== undefined) return undefined
    const variable = /\$(\w{1,64})(?=[\s),}\]])/y
    variable.lastIndex = from
    if (isHidden(variable.exec(text)?.[1] ?? '')) return undefined

    if (separator === '=' && /[?&#][\w.%[\]-]*$/.test(before.slice(0, found.index + both.length)))
      return [from, from + (lengthAt(/(?:[^&"<>\r\n]|["<>](?![\s,)}\]>]|$))*/y, text, from) ?? 0)]

    const quoted = lengthAt(quotedValue, text, from)
    if (quoted !== undefined && lengthAt(afterValue, text, from + quoted) !== undefined) return [from, from + quoted]
    // Only JSON has quotes around names.
    return [from, endOfBlock(text, index, from, /[[{(\\"'`]/.test(text.charAt(from)), isQuoted)]
  })
}

/** Words after the name of a scheme, in sentences and challenges. */
const words =
  '(?:auth\\w*|tokens?|realm|error\\w*|scope|header|scheme|credentials?|challenge|format|method|is|was|of|in|for|and|or|the|an?|with|without|not|must|required|missing|invalid|expired)(?=$|[\\s"\',;:)=]|\\.(?:\\s|$))'
const bearers = new RegExp(`\\b(?:bearer|negotiate|ntlm)[ \\t]{1,8}(?!${words})(?=[\\w.~+/=$-])`, 'gi')
const signed =
  /\b(?:digest|hawk|oauth|signature|vapid|mac|scram-[\w-]{1,20}|aws4-[\w-]{1,40})[ \t]{1,8}(?=[\w-]{1,64}[ \t]{0,8}=)/gi

/** Hides the credentials of HTTP's schemes and JSON web tokens, without the name of a header before them. */
function withoutCredentials(text: string): string {
  const after = ({ 0: begin, index }: RegExpExecArray) => index + begin.length
  const rest = (of: RegExp) => (match: RegExpExecArray) =>
    [after(match), after(match) + (lengthAt(of, text, after(match)) ?? 0)] as const
  text = hide(text, bearers, rest(/[^\s"'`,;<>]*/y))
  text = hide(text, signed, rest(/[^\n]*(?:\n[ \t]+[^\n]*)*/y))
  // What Redis says of a command that it does not know, with its values.
  text = hide(text, /\bwith args beginning with: /g, rest(/[^\n]*/y))
  text = hide(text, /\bbasic[ \t]{1,8}([\w+/-]{4,}={0,2})/gi, ({ 0: all, 1: given = '', index }) => {
    const login = Buffer.from(given, 'base64').toString('latin1')
    // A word of a sentence decodes to neither.
    const isLogin = login.includes(':') || /^[\x20-\x7e]+$/.test(login)
    return isLogin ? [index + all.length - given.length, index + all.length] : undefined
  })
  return hide(text, /(?<![\w-])[\w-]+\.[\w.-]*/g, ({ 0: all, index }) => {
    const at = all.search(/eyJ[\w-]{8}/)
    return at === -1 ? undefined : [index + at, index + all.length]
  })
}

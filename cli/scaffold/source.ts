/** A string as a TypeScript literal, in the quotes that formatters leave: single quotes, unless they need more escapes. */
export function literal(text: string): string {
  const inside = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[\u007f-\u009f\u2028\u2029]/g, escaped)
  const [singles, doubles] = ["'", '"'].map((quote) => text.split(quote).length) as [number, number]
  if (singles > doubles) return `"${inside}"`
  return `'${inside.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Import lines from `[module, names]`, in the order into which formatters sort them; without names, for the effect alone. */
export function imports(...lines: readonly (readonly [from: string, names?: string])[]): string {
  return [...lines]
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([from, names]) => `import ${names === undefined ? '' : `${names} from `}'${from}'`)
    .map((line) =>
      line.length <= 120 ? line : line.replaceAll(/(?<=\{) | (?=\})|(?<=,) /g, '\n  ').replace('\n  }', ',\n}'),
    )
    .join('\n')
}

/** Names for an import, also in the order of formatters: case-insensitive, with the capital first among equal letters. */
export function named(...names: readonly string[]): string {
  const key = (name: string) =>
    [...name.replace(/^type /, '')]
      .map((letter) => letter.toLowerCase() + (letter === letter.toLowerCase() ? 1 : 0))
      .join('')
  return `{ ${[...names].sort((a, b) => (key(a) < key(b) ? -1 : 1)).join(', ')} }`
}

const rank = (from: string) => (from.includes(':') ? 0 : from.startsWith('.') ? 2 : 1)

/** Names that templates import and declare themselves, and names of tests: things that the user names must not have them. */
const taken = new Set(
  `add assert attempt clock constructor cron ctx definePlugin error exceed failures first handle received id item items jobs keep
  later logger mailer memory message mqtt next options order outbox process provider query queue record req res
  result router routes run second server service services signal stop storage subscription test topic undefined`.split(
    /\s+/,
  ),
)

/** The identifier for a user's name; with its kind as a suffix where a template has the same name. */
export function identifier(camel: string, kind: string): string {
  return taken.has(camel) ? `${camel}${kind}` : camel
}

/** A string as the name of a property, without quotes if they are not needed. */
export function propertyName(text: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(text) ? text : literal(text)
}

import type { ScaffoldFile } from './files.ts'
import { envModule, inFolder, type Place } from './place.ts'
import { fromTemplate, type Values } from './template.ts'

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

/** A module and its test in a place, from the templates with one name. */
export function moduleAndTest(place: Place, name: string, template: string, values: Values): ScaffoldFile[] {
  const path = inFolder(place, `${name}.ts`)
  const all = { testModule: place.testModule, envModule: envModule(place, path), ...values }
  return [
    { path, text: sourceFrom(`${template}.ts`, all) },
    { path: path.replace(/\.ts$/, '.test.ts'), text: sourceFrom(`${template}.test.ts`, all) },
  ]
}

/** A module from a template. Its first lines, which import, get the order of formatters, which depends on the values. */
export function sourceFrom(template: string, values: Values): string {
  const lines = fromTemplate(template, values).split('\n')
  const end = lines.findIndex((line) => !line.startsWith('import '))
  const imports = lines
    .slice(0, end)
    .map((line) => [/'(.*)'$/.exec(line)![1]!, line.replace(/(?<=\{ ).*(?= \})/, sortedNames)] as const)
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([, line]) =>
      line.length <= 120 ? line : line.replaceAll(/(?<=\{) | (?=\})|(?<=,) /g, '\n  ').replace('\n  }', ',\n}'),
    )
  return [...imports, ...lines.slice(end)].join('\n')
}

/** Names of an import in the order of formatters: case-insensitive, with the capital first among equal letters. */
function sortedNames(names: string): string {
  const key = (name: string) =>
    [...name.replace(/^type /, '')]
      .map((letter) => letter.toLowerCase() + (letter === letter.toLowerCase() ? 1 : 0))
      .join('')
  return names
    .split(', ')
    .sort((a, b) => (key(a) < key(b) ? -1 : 1))
    .join(', ')
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

/** An entry of a text in the form of dotenv, with the place of its value. */
interface Entry {
  readonly name: string
  readonly value: string
  readonly start: number
  readonly end: number
}

/** Everything up to the value, then a value in quotes, which may have several lines, or the rest of the line before a comment. */
const entry =
  /^(\uFEFF?[^\S\r\n]*(?:export[^\S\r\n]+)?([\w.-]+)(?:[^\S\r\n]*=|:(?=[^\S\r\n])))([^\S\r\n]*)('(?:\\'|[^'])*'|"(?:\\"|[^"])*"|`(?:\\`|[^`])*`|[^#\r\n]*)/gm

function entriesOf(text: string): Entry[] {
  return [...text.matchAll(entry)].map(({ index, 1: before = '', 2: name = '', 3: gap = '', 4: rest = '' }) => {
    const value = rest.trimEnd()
    // An empty value has its place before the blanks: after them, a comment would touch it and become part of it.
    const start = index + before.length + (value === '' ? 0 : gap.length)
    return { name, value, start, end: start + value.length }
  })
}

const isEmpty = (value: string) => /^(''|""|``)?$/.test(value)

/** Those of the names that have a value in the text. An entry without a value is a place for one. */
export function namesIn(text: string, names: readonly string[]): string[] {
  const entries = entriesOf(text)
  return names.filter((name) => entries.some((one) => one.name === name && !isEmpty(one.value)))
}

/** The text with these values: they replace existing ones, or are added at the end. Everything else stays byte for byte. */
export function withEntries(text: string, values: Readonly<Record<string, string>>): string {
  const found = entriesOf(text).filter(({ name }) => Object.hasOwn(values, name))
  let changed = ''
  let at = 0
  for (const { name, start, end } of found) {
    changed += text.slice(at, start) + quoted(values[name]!)
    at = end
  }
  changed += text.slice(at)
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  const missing = Object.entries(values).filter(([name]) => !found.some((one) => one.name === name))
  if (missing.length === 0) return changed
  const gap = changed === '' || /[\n\uFEFF]$/.test(changed) ? '' : end
  return changed + gap + missing.map(([name, value]) => `${name}=${quoted(value)}${end}`).join('')
}

/** A value on one line: in double quotes, every reader takes `\n` for a line break. PEM and base64 have no quotes or backslashes. */
export const quoted = (value: string) =>
  /^[\w-]+$/.test(value) ? value : `"${value.trimEnd().replaceAll('\n', '\\n')}\\n"`

import type { Message } from 'esbuild'

/** `file:line:column`, as editors understand it. */
export function placeOf({ location }: Message): string | undefined {
  return location === null ? undefined : `${location.file}:${location.line}:${location.column + 1}`
}

/** A mistake as `file:line:column: text`, followed by its line with a mark below it. */
export function codeFrame(mistake: Message): string {
  const { text, location } = mistake
  if (location === null) return text
  const { line, column, length, lineText } = location
  const number = String(line)
  // Tabs stay tabs, so that the mark is below the mistake.
  const indent = lineText.slice(0, column).replace(/[^\t]/g, ' ')
  const mark = '^'.repeat(Math.max(1, Math.min(length, lineText.length - column)))
  return [
    `${placeOf(mistake)}: ${text}`,
    '',
    `  ${number} │ ${lineText}`,
    `  ${' '.repeat(number.length)} │ ${indent}${mark}`,
  ].join('\n')
}

/** The mistakes of a failed build, if it failed because of them. */
export function mistakesOf(error: unknown): readonly Message[] {
  const { errors } = (error ?? {}) as { errors?: unknown }
  return Array.isArray(errors) ? (errors as Message[]) : []
}

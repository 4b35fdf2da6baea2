import { placesOf, placeText } from '../../plugins/shared/terminal/stack.ts'

/**
 * The error of an import, in one line, with file and line of the application if there are any. A line that ends with a colon
 * includes the list that it introduces, if there is one.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return `it throws ${String(error)}`
  const [message = '', ...rest] = error.message.split('\n')
  // A mistake that was found during the translation of the file begins with its place.
  if (/^.+?:\d+:\d+: /.test(message)) return message
  // For a syntax error it is the first line.
  const [found] = placesOf((error.stack ?? '').split('\n'))
  const at = found === undefined ? '' : ` (${placeText(found)})`
  const list = rest.filter((line) => /^( {2}|- )/.test(line))
  if (!message.endsWith(':') || list.length === 0) return message + at
  return [`${message.slice(0, -1)}${at}:`, ...list].join('\n')
}

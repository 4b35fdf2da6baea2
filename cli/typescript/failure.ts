import { placesOf, placeText } from '../../plugins/toolkit/readable/stack.ts'

/**
 * What an import threw, in one line with file and line of the application where there is one. A line that ends with a colon
 * brings the list that it begins.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return `it throws ${String(error)}`
  const [message = '', ...rest] = error.message.split('\n')
  // A mistake that was found while the file was translated has its place in front.
  if (/^\S+:\d+:\d+: /.test(message)) return message
  // Of syntax errors it is the first line.
  const [found] = placesOf((error.stack ?? '').split('\n'))
  const at = found === undefined ? '' : ` (${placeText(found)})`
  if (!message.endsWith(':')) return message + at
  return [`${message.slice(0, -1)}${at}:`, ...rest.filter((line) => /^( {2}|- )/.test(line))].join('\n')
}

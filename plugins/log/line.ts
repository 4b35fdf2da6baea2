/** Maximum characters of one line: a request header may have a megabyte, a log line may not. */
const maxLine = 32_768
/** Maximum characters of one string in a line that is too long. */
const maxText = 1_024

// Control characters that JSON leaves unescaped: a terminal interprets U+009B as the start of a command, and some readers
// interpret U+2028 as the end of a line.
const dangerous = /[\x7f-\x9f\u2028\u2029]/

/** Makes a line written by pino safe to store and to show: a single line, limited in length, without control characters. */
export function safeLine(line: string): string {
  const short = line.length > maxLine ? shorten(line) : line
  if (!dangerous.test(short)) return short
  return short.replace(new RegExp(dangerous, 'g'), (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function shorten(line: string): string {
  const cut = (_key: string, value: unknown) =>
    typeof value === 'string' && value.length > maxText
      ? `${value.slice(0, maxText)}… (${value.length} characters)`
      : value
  try {
    const entry = JSON.parse(line, cut) as Record<string, unknown>
    const short = `${JSON.stringify(entry)}\n`
    if (short.length <= maxLine) return short
    const { level, time, pid, hostname, reqId, msg } = entry
    const note = `an entry of ${line.length} characters was cut`
    return `${JSON.stringify({ level, time, pid, hostname, reqId, msg, cut: note })}\n`
  } catch {
    return `${JSON.stringify({ level: 40, time: Date.now(), msg: `an entry of ${line.length} characters was cut` })}\n`
  }
}

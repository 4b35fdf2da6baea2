/** What SQS takes, for one message and for a batch. */
export const maxBytes = 262_144
export const maxEntries = 10

/** JSON in the characters that SQS takes, which are those of XML; emulators refuse pairs of surrogates as well. */
export function bodyOf(text: string): string {
  const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16)}`
  return text.replace(/[\ud800-\udfff\ufffe\uffff]/g, escaped)
}

/** A body that is no JSON comes from somebody else: its text is the payload. */
export function payloadOf(body = ''): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

/** The places of messages, in lots that SQS takes at once. */
export function batches(bodies: readonly string[]): number[][] {
  const lots: number[][] = []
  let bytes = Number.POSITIVE_INFINITY
  bodies.forEach((body, i) => {
    const size = Buffer.byteLength(body)
    bytes += size
    if (bytes > maxBytes || lots.at(-1)!.length === maxEntries) {
      lots.push([])
      bytes = size
    }
    lots.at(-1)!.push(i)
  })
  return lots
}

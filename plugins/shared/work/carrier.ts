/**
 * The trace data in a message, from its publisher to its handler: the headers `traceparent` and `tracestate` of W3C Trace Context, and
 * `baggage` of W3C Baggage. Subscribers to the `start` of a publication fill it in.
 */
export type Carrier = { traceparent?: string; tracestate?: string; baggage?: string }

export const carrierNames = ['traceparent', 'tracestate', 'baggage'] as const

/** W3C Baggage requires everyone to pass on this many characters; the other two headers require no more. */
const longest = 8192

/** The valid part of a carrier, from a subscriber or from any message; `undefined` if no part is valid. */
export function carrierOf(given: unknown): Readonly<Carrier> | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const carrier: Carrier = {}
  for (const name of carrierNames) {
    const value: unknown = Object.hasOwn(given, name) ? (given as Carrier)[name] : undefined
    // Printable characters only: some of the values are passed on in headers, which a line break would forge.
    if (typeof value === 'string' && value !== '' && value.length <= longest && /^[\x20-\x7e]*$/.test(value))
      carrier[name] = value
  }
  return Object.keys(carrier).length === 0 ? undefined : carrier
}

/**
 * What a message carries from the work that publishes it to the work that takes it: the headers `traceparent` and `tracestate` of W3C Trace Context, and
 * `baggage` of W3C Baggage. Subscribers of `start` of a publication fill it.
 */
export type Carrier = { traceparent?: string; tracestate?: string; baggage?: string }

export const carrierNames = ['traceparent', 'tracestate', 'baggage'] as const

/** What W3C Baggage asks of everyone to pass on; of the other two headers nothing asks for more. */
const longest = 8192

/** What is to be carried, of what a subscriber or a message from anywhere has; `undefined` for nothing. */
export function carrierOf(given: unknown): Readonly<Carrier> | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const carrier: Carrier = {}
  for (const name of carrierNames) {
    const value: unknown = Object.hasOwn(given, name) ? (given as Carrier)[name] : undefined
    // Printable characters alone: a line break would forge headers, where the value travels on in some.
    if (typeof value === 'string' && value !== '' && value.length <= longest && /^[\x20-\x7e]*$/.test(value))
      carrier[name] = value
  }
  return Object.keys(carrier).length === 0 ? undefined : carrier
}

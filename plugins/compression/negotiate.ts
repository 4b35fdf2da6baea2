import type Negotiator from 'negotiator'
import type { Coder } from './coders.ts'

/** With equal weights, the installed version uses the server's order of encodings; that option is missing from its types. */
interface Preferring {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): string[]
}

/** Returns the coder for an `Accept-Encoding` header; `undefined`: the body is sent as it is. */
export type Negotiate = (header: string | undefined) => Coder | undefined

/** Chooses by the client's weights, then by the server's order. A client without the header receives an unencoded body. */
export function negotiatorOf(Library: typeof Negotiator, coders: readonly Coder[]): Negotiate {
  const available = [...coders.map(({ encoding }) => encoding), 'identity']
  const choose = (header: string): Coder | undefined => {
    const negotiator = new Library({ headers: { 'accept-encoding': header } }) as unknown as Preferring
    const [best] = negotiator.encodings(available, { preferred: available })
    return coders.find(({ encoding }) => encoding === best)
  }
  // Browsers send only a handful of different headers; beyond the ones kept, headers that a client invents are parsed each time.
  const chosen = new Map<string, Coder | undefined>()
  return (header) => {
    if (header === undefined || header === '') return undefined
    if (chosen.has(header)) return chosen.get(header)
    // The parser is linear, but 16 kB of header are not worth its time for a choice between four words.
    if (header.length > 1_024) return undefined
    const coder = choose(header)
    if (chosen.size < 200) chosen.set(header, coder)
    return coder
  }
}

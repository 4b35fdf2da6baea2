import type Negotiator from 'negotiator'
import type { Coder } from './coders.ts'

/** The installed version uses the server's order for encodings with equal weights; its types lack that. */
interface Preferring {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): string[]
}

/** The coder for an `Accept-Encoding` header; `undefined`: send it as it is. */
export type Negotiate = (header: string | undefined) => Coder | undefined

/** Chooses by the client's weights, then by the server's order. A client that sends no header receives no encoding. */
export function negotiatorOf(Library: typeof Negotiator, coders: readonly Coder[]): Negotiate {
  const available = [...coders.map(({ encoding }) => encoding), 'identity']
  const choose = (header: string): Coder | undefined => {
    const negotiator = new Library({ headers: { 'accept-encoding': header } }) as unknown as Preferring
    const [best] = negotiator.encodings(available, { preferred: available })
    return coders.find(({ encoding }) => encoding === best)
  }
  // Browsers send a handful of different headers; a client that invents others pays for the parsing.
  const chosen = new Map<string, Coder | undefined>()
  return (header) => {
    if (header === undefined || header === '') return undefined
    if (chosen.has(header)) return chosen.get(header)
    // The parser is linear, but a header of 16 kB for one of four words is not worth its time.
    if (header.length > 1_024) return undefined
    const coder = choose(header)
    if (chosen.size < 200) chosen.set(header, coder)
    return coder
  }
}

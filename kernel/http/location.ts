import { wellFormed } from './file.ts'

/** Encodes what a header cannot carry, and leaves escapes that are there alone. */
export function encodeLocation(url: string): string {
  if (typeof url !== 'string') throw new TypeError('res.redirect takes the URL as a text')
  return url.replace(/[^\x21-\x7e]+/g, (part) => encodeURIComponent(wellFormed(part)))
}

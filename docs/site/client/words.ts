import type { Options } from 'minisearch'

/** A part of a page, as stored in the index. */
export interface Entry {
  /** Its address, relative to the root of the site. */
  readonly id: string
  readonly title: string
  readonly page: string
  readonly heading: string
  readonly section: string
  readonly text: string
}

/** Splits text into words so that `rateLimit` is found by its name and by “rate limit”, and `OptionError` by “option”. */
function tokenize(text: string): string[] {
  return text
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== '')
    .flatMap((word) => {
      const parts = word.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|_/u).filter((part) => part !== '')
      return parts.length > 1 ? [word, ...parts] : [word]
    })
}

/** The options of the index; they must be the same when it is made and when it is searched. */
export const searchOptions: Options<Entry> = {
  fields: ['page', 'heading', 'text'],
  storeFields: ['title', 'heading', 'section', 'text'],
  tokenize,
  processTerm: (term) => term.toLowerCase(),
  searchOptions: {
    boost: { page: 6, heading: 3 },
    combineWith: 'AND',
    prefix: (term, index, terms) => term.length > 2 || index === terms.length - 1,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    // Readers seldom look for what has changed, for the reasons of a design, or for the form of every type.
    boostDocument: (id) =>
      /^(CHANGELOG|docs\/api|docs\/design|docs\/benchmarks|benchmarks)\b/.test(String(id)) ? 0.2 : 1,
  },
}

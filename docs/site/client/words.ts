import type { Options } from 'minisearch'

/** A part of a page as the index knows it. */
export interface Entry {
  /** Its address from the root of the site. */
  readonly id: string
  readonly title: string
  readonly page: string
  readonly heading: string
  readonly section: string
  readonly text: string
}

/** `rateLimit` is found by itself and by «rate limit», `OptionError` by «option». */
function tokenize(text: string): string[] {
  return text
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== '')
    .flatMap((word) => {
      const parts = word.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|_/u).filter((part) => part !== '')
      return parts.length > 1 ? [word, ...parts] : [word]
    })
}

/** The same when the index is made and when it is asked. */
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
    // What has changed, why it is so, and the form of every type are seldom what someone looks for.
    boostDocument: (id) =>
      /^(CHANGELOG|docs\/api|docs\/design|docs\/benchmarks|benchmarks)\b/.test(String(id)) ? 0.2 : 1,
  },
}

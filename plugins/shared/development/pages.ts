import type { Kernel } from '../../../kernel/index.ts'

/** A page that a person may open in a browser. */
export interface Page {
  /** The name of the page, in a word or two: `API docs`. */
  readonly what: string
  readonly path: string
}

// The list is stored on the server itself, because a development server may have another copy of this package.
const mark = Symbol.for('framework.pages')
type WithPages = Kernel & { [mark]?: Page[] }

/** Announces a page, for the list that a development server shows when it starts. */
export function announcePage(server: WithPages, what: string, path: string): void {
  // A pattern cannot be opened.
  if (/[:*]/.test(path)) return
  server[mark] ??= []
  server[mark].push({ what, path })
}

export const pagesOf = (server: WithPages): readonly Page[] => server[mark] ?? []

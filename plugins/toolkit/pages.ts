import type { Kernel } from '../../kernel/index.ts'

/** Something that a person may open in a browser. */
export interface Page {
  /** What it is, in a word or two: `API docs`. */
  readonly what: string
  readonly path: string
}

// On the server itself, because a development server may have another copy of this package.
const mark = Symbol.for('framework.pages')
type WithPages = Kernel & { [mark]?: Page[] }

/** Says what is served where, for the list that a development server shows when it starts. */
export function announcePage(server: WithPages, what: string, path: string): void {
  // No one can open a pattern.
  if (/[:*]/.test(path)) return
  server[mark] ??= []
  server[mark].push({ what, path })
}

export const pagesOf = (server: WithPages): readonly Page[] => server[mark] ?? []

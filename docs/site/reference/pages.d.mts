import type { Reference } from './model.d.mts'

export interface Page {
  /** Relative to the folder of the reference: `plugins/cache.md`. */
  readonly path: string
  readonly title: string
  readonly text: string
}

export function referencePages(reference?: Reference): Page[]

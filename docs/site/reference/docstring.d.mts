import type { Docstring } from './model.d.mts'

export function readDocstring(comment: string): Docstring

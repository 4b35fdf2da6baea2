import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './stage.ts'

/** A file of parts, each under a heading of the first level, with one of them replaced, or added at the end. */
export function replacePart(file: string, part: string): string {
  const heading = part.slice(0, part.indexOf('\n') + 1)
  const parts = file.split(/^(?=# )/m).map((one) => `${one.trimEnd()}\n`)
  const at = parts.findIndex((one) => one.startsWith(heading))
  if (at < 0) parts.push(part)
  else parts[at] = part
  return parts.join('\n')
}

/** Writes one part of `benchmarks/results.md`; the others stay, because another run has measured them. */
export function saveResults(part: string): void {
  const file = join(root, 'benchmarks/results.md')
  writeFileSync(file, replacePart(readFileSync(file, 'utf8'), part))
}

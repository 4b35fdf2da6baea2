import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './stage.ts'

const partsOf = (file: string) => file.split(/^(?=# )/m).map((one) => `${one.trimEnd()}\n`)
const sectionsOf = (part: string) => part.split(/^(?=## )/m).map((one) => `${one.trimEnd()}\n`)
const headingOf = (text: string) => text.slice(0, text.indexOf('\n') + 1)

/** Joins texts, which are identified by their first lines: newer ones replace older ones, or are added at the end. */
function replaced(older: readonly string[], newer: readonly string[]): string {
  const texts = new Map([...older, ...newer].map((text) => [headingOf(text), text]))
  return [...texts.values()].join('\n')
}

/** Replaces one part of a file, or adds it at the end; each part has a heading of the first level. */
export const replacePart = (file: string, part: string): string => replaced(partsOf(file), [part])

/** Does the same, but replaces only the head and the given sections of the part: each suite is measured in a run of its own. */
export function mergePart(file: string, part: string): string {
  const older = partsOf(file).find((one) => headingOf(one) === headingOf(part))
  return replacePart(file, older === undefined ? part : replaced(sectionsOf(older), sectionsOf(part)))
}

/** Returns the part of a file that has the same heading as another part. */
export const samePart = (file: string, part: string): string =>
  partsOf(file).find((one) => headingOf(one) === headingOf(part)) ?? ''

const resultsFile = join(root, 'benchmarks/results.md')
const read = () => readFileSync(resultsFile, 'utf8')

/** Writes one part of `benchmarks/results.md`; the other parts stay, because other runs have measured them. */
export const saveResults = (part: string): void => writeFileSync(resultsFile, replacePart(read(), part))

/** Writes sections of one part, and a summary of the whole part. */
export function mergeResults(part: string, summaryOf: (whole: string) => string): void {
  const merged = mergePart(read(), part)
  const [head, ...sections] = sectionsOf(samePart(merged, part))
  const summary = summaryOf(samePart(merged, part))
  const others = sections.filter((one) => headingOf(one) !== headingOf(summary))
  writeFileSync(resultsFile, replacePart(merged, [head, summary, ...others].join('\n')))
}

/** The cells of a table under a heading of the second level, by row name and column name. */
export type Cells = ReadonlyMap<string, ReadonlyMap<string, string>>

/** The tables of a part, by their headings. */
export function tablesOf(part: string): Map<string, Cells> {
  const cellsOf = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
  return new Map(
    sectionsOf(part)
      .slice(1)
      .map((section) => {
        const [header = [], , ...rows] = section
          .split('\n')
          .filter((line) => line.startsWith('|'))
          .map(cellsOf)
        const cells = rows.map(([name = '', ...values]) => {
          return [name, new Map(values.map((value, i) => [header[i + 1] ?? '', value]))] as const
        })
        return [headingOf(section).slice(3).trim(), new Map(cells)]
      }),
  )
}

import { aligned } from '../plugins/shared/terminal/columns.ts'
import { type Output, widthOf } from './output.ts'

/** The share of the width above which a column has a line of its own, if there is not enough room for all. */
const widestShare = 0.4
/** The width below which a column is not readable. */
const narrowest = 24

/**
 * Lays rows out in columns, two spaces apart. With a width, the last column is broken between words, and a long cell before
 * it has a line of its own; without a width, every row is one line, for programs that read lines.
 */
export function columns(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): string[] {
  if (width === Number.POSITIVE_INFINITY) return aligned(rows)
  const count = Math.max(0, ...rows.map((row) => row.length))
  const most = Math.max(narrowest, Math.floor(width * widestShare))
  const widths = Array.from({ length: count - 1 }, (_, at) =>
    Math.max(0, ...rows.map((row) => row[at]?.length ?? 0).filter((length) => length <= most)),
  )
  return rows.flatMap((row) => layOut(row, widths, width))
}

/** Prints rows in columns for the width of standard output. */
export function printTable(rows: readonly (readonly string[])[], print: Output['print']): void {
  for (const line of columns(rows, widthOf(process.stdout))) print(line)
}

function layOut(row: readonly string[], widths: readonly number[], width: number): string[] {
  const lines: string[] = []
  let line = ''
  let start = 0
  for (const [at, cellWidth] of widths.entries()) {
    const cell = row[at] ?? ''
    line = line.padEnd(start) + cell
    start += cellWidth === 0 ? 0 : cellWidth + 2
    if (cell.length <= cellWidth) continue
    lines.push(line)
    line = ''
  }
  const last = row[widths.length] ?? ''
  // If there is no room left in the line, the rest is below, slightly indented.
  const indent = width - start < narrowest ? 4 : start
  const isBelow = last === '' || (line !== '' && indent < start)
  const parts = wrap(last, Math.max(narrowest, width - indent))
  const rest = parts.map((part, at) => (at === 0 && !isBelow ? line : '').padEnd(indent) + part)
  const all = [...lines, ...(isBelow ? [line] : []), ...rest]
  return all.map((one) => one.trimEnd()).filter((one, at) => one !== '' || at === 0)
}

/** Breaks a text between words; a word that is longer than a line has one of its own. */
const wrap = (text: string, width: number): readonly string[] =>
  text.match(new RegExp(`\\S.{0,${width - 1}}(?= |$)|\\S+`, 'g')) ?? []

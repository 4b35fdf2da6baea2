import type { Goal } from '../goals.ts'
import { type Cells, tablesOf } from './results.ts'
import { percent, section } from './table.ts'

/** The servers that do the same work at less cost, and how many times less: compiled ones are compared with our own compiled one. */
function cheaper(table: Cells): string[] {
  const ratioOf = (name: string, cells: ReadonlyMap<string, string>) =>
    Number(cells.get(`× ${name.replace(/^[^,]*/, 'framework')}`) ?? cells.get('× framework'))
  const others = [...table]
    .map(([name, cells]) => ({ name, ratio: ratioOf(name, cells) }))
    .filter(({ name, ratio }) => ratio > 1 && !name.startsWith('framework'))
    .map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`)
  return [...others, ...cheaperReferences(table)]
}

/** The same for a table of a suite in process, whose rows are groups and whose only ratio column is that of their reference. */
function cheaperReferences(table: Cells): string[] {
  return [...table].flatMap(([row, cells]) => {
    const group = /^(.*): framework$/.exec(row)?.[1]
    const [column, cell] = [...cells].find(([name]) => name.startsWith('× ')) ?? []
    const ratio = Number(cell)
    return group !== undefined && ratio < 1 ? [`${group}: ${column!.slice(2)} ${(1 / ratio).toFixed(2)}`] : []
  })
}

/** The goals that the tables of a part cover: a run of one suite does not list the goals of all others. */
export function goalsIn(part: string, goals: readonly Goal[]): Goal[] {
  const tables = tablesOf(part)
  return goals.filter(({ table }) => tables.has(table))
}

/**
 * Writes the goals for a runtime next to the results in its tables, and then the servers that were ahead of the framework in
 * those tables: no one should have to look for losses.
 */
export function summary(goals: readonly Goal[], part: string): string {
  const tables = tablesOf(part)
  const rows = goals.map(({ table, row, against, ratio }) => {
    const reached = Number(tables.get(table)?.get(row)?.get(`× ${against}`) ?? Number.NaN)
    const verdict = Number.isNaN(reached)
      ? 'not measured'
      : reached >= ratio
        ? 'held'
        : `**missed by ${percent(1 - reached / ratio)}**`
    return [
      `${table}: ${row} to ${against}`,
      ratio.toFixed(2),
      Number.isNaN(reached) ? '–' : reached.toFixed(2),
      verdict,
    ]
  })
  const losses = [...tables].flatMap(([name, table]) => {
    const names = cheaper(table)
    return names.length === 0 ? [] : [`- ${name}: ${names.join(', ')}`]
  })
  const ahead =
    losses.length === 0
      ? 'Nothing in these tables is cheaper than the framework.'
      : `Cheaper than the framework, by this factor:\n\n${losses.join('\n')}`
  const note = 'How many times cheaper than another server the framework should be, and how many times it is.'
  const held = rows.length === 0 ? '## Goals\n' : section('Goals', note, ['', 'goal', 'reached', ''], rows)
  return `${held}\n${ahead}\n`
}

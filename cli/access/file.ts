import { orFail } from '../../plugins/shared/values/safely.ts'
import { CommandFailure } from '../failure.ts'
import { programName } from '../package.ts'
import { type Change, changesOf, isGuard, readFact } from './facts.ts'
import { everyRequest, type WayIn } from './ways.ts'

/** A line of the file. */
export type FiledWay = Pick<WayIn, 'way' | 'facts'>

const head = `# Who can reach what: each way in with what must hold before it. "${programName} access --write" writes this file, and "--check" compares it.`

/** The file for these ways in: text, or JSON if it is named so. */
export function fileOf(ways: readonly WayIn[], name: string): string {
  const lines = ways.map(({ way, facts }) => `${way} | ${facts.join('; ') || 'open'}`)
  if (!name.endsWith('.json')) return `${[head, ...lines].join('\n')}\n`
  // One line for each here as well, so that a diff of the file can be reviewed.
  const rows = ways.map(({ way, facts }) => `  ${JSON.stringify({ way, facts })}`)
  return `[\n${rows.join(',\n')}\n]\n`
}

/** The ways in of a file. @throws CommandFailure for one that has another form. */
export function readFile(text: string, name: string): FiledWay[] {
  const failure = (what: string) =>
    new CommandFailure(`${name}: ${what}. Write it again: ${programName} access --write`)
  if (name.endsWith('.json')) {
    const rows: unknown = orFail(
      () => JSON.parse(text),
      () => failure('it is not JSON'),
    )
    const isWay = (one: Partial<FiledWay> | null) =>
      typeof one?.way === 'string' && Array.isArray(one.facts) && one.facts.every((fact) => typeof fact === 'string')
    if (!Array.isArray(rows) || !rows.every(isWay)) throw failure('it is not a list of { way, facts }')
    return rows as FiledWay[]
  }
  return text.split(/\r?\n/).flatMap((line, at) => {
    if (line.trim() === '' || line.startsWith('#')) return []
    const [way = '', facts, ...more] = line.split(' | ')
    if (facts === undefined || more.length > 0) throw failure(`line ${at + 1} does not have the form "GET /path | …"`)
    return [{ way, facts: facts === 'open' ? [] : facts.split('; ') }]
  })
}

/** A difference of the application from its file. */
export interface Difference extends Change {
  readonly way: string
  readonly at: string
}

/** The name of a parameter is of no importance. */
const keyOf = ({ way }: FiledWay) => way.replace(/:\w+/g, ':')

/** What has changed since the file was written. */
export function differencesOf(filed: readonly FiledWay[], ways: readonly WayIn[]): Difference[] {
  const before = new Map(filed.map((one) => [keyOf(one), one]))
  const now = new Set(ways.map(keyOf))
  const gone = filed.filter((one) => !now.has(keyOf(one)))
  return [
    ...ways.flatMap((one) => {
      const { way, facts, at } = one
      const old = before.get(keyOf(one))
      if (old !== undefined) return changesOf(old.facts, facts).map((change) => ({ way, at, ...change }))
      const isWider = way !== everyRequest && !facts.map(readFact).some(isGuard)
      return [{ way, at, from: 'no way in', to: facts.join('; ') || 'open', isWider }]
    }),
    ...gone.map(({ way, facts }) => {
      return { way, at: '', from: facts.join('; ') || 'open', to: 'no way in', isWider: false }
    }),
  ]
}

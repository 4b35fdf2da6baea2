import { orFail } from '../../plugins/shared/values/safely.ts'
import { CommandFailure } from '../failure.ts'
import { programName } from '../package.ts'
import { type Change, changesOf, isGuard, readFact } from './facts.ts'
import { everyRequest, type WayIn } from './ways.ts'

/** A line of the file. */
export type FiledWay = Pick<WayIn, 'way' | 'facts'>

/** What a file lists, and the words for it. */
export interface FileKind {
  /** The flag with which the command writes it. */
  readonly flag: string
  /** The names that it has by default. */
  readonly names: readonly [text: string, json: string]
  readonly head: string
  /** What its rows are, what a change for the worse does, in a word and in a sentence, and what holds without one. */
  readonly rows: string
  readonly worse: readonly [word: string, sentence: string]
  readonly holds: string
}

export const ofWays: FileKind = {
  flag: '',
  names: ['access.txt', 'access.json'],
  head: 'Who can reach what: each way in with what must hold before it.',
  rows: 'ways in',
  worse: ['wider', 'More people get in than'],
  holds: 'nothing that can be seen lets more people in',
}
export const ofData: FileKind = {
  flag: ' --data',
  names: ['access-data.txt', 'access-data.json'],
  head: 'Where personal data and credentials flow: each member that a schema marks.',
  rows: 'marked members',
  worse: ['exposed', 'More data is exposed than'],
  holds: 'no member has lost its mark',
}

/** The command that writes this file. */
export const writing = (name: string, { flag, names }: FileKind): string =>
  `${programName} access${flag} --write${names.includes(name) ? '' : ` ${name}`}`

/** The file for these rows: text, or JSON if it is named so. */
export function fileOf(ways: readonly WayIn[], name: string, { flag, head: title }: FileKind = ofWays): string {
  const head = `# ${title} "${programName} access${flag} --write" writes this file, and "--check" compares it.`
  const lines = ways.map(({ way, facts }) => `${way} | ${facts.join('; ') || 'open'}`)
  if (!name.endsWith('.json')) return `${[head, ...lines].join('\n')}\n`
  // One line for each here as well, so that a diff of the file can be reviewed.
  const rows = ways.map(({ way, facts }) => `  ${JSON.stringify({ way, facts })}`)
  return `[\n${rows.join(',\n')}\n]\n`
}

/** The ways in of a file. @throws CommandFailure for one that has another form. */
export function readFile(text: string, name: string, kind: FileKind = ofWays): FiledWay[] {
  const mistakeIn = (what: string) => new CommandFailure(`${name}: ${what}. Write it again: ${writing(name, kind)}`)
  const ways = waysIn(text, name, mistakeIn)
  const twice = ways.find(({ way }, at) => ways.findIndex((one) => one.way === way) < at)
  // A merge may keep both lines: the one that says less would decide.
  if (twice !== undefined) throw mistakeIn(`${twice.way} is there twice`)
  return ways
}

function waysIn(text: string, name: string, mistakeIn: (what: string) => Error): FiledWay[] {
  if (name.endsWith('.json')) {
    const rows: unknown = orFail(
      () => JSON.parse(text),
      () => mistakeIn('it is not JSON'),
    )
    const isWay = (one: Partial<FiledWay> | null) =>
      typeof one?.way === 'string' && Array.isArray(one.facts) && one.facts.every((fact) => typeof fact === 'string')
    if (!Array.isArray(rows) || !rows.every(isWay)) throw mistakeIn('it is not a list of { way, facts }')
    return rows as FiledWay[]
  }
  return text.split(/\r?\n/).flatMap((line, at) => {
    if (line.trim() === '' || line.startsWith('#')) return []
    // The last bar: a path may have one.
    const [, way, facts] = /^(.+) \| (.+)$/.exec(line) ?? []
    if (way === undefined || facts === undefined)
      throw mistakeIn(`line ${at + 1} does not have the form "GET /path | …"`)
    return [{ way, facts: facts === 'open' ? [] : facts.split('; ') }]
  })
}

/** A difference of the application from its file. */
export interface Difference extends Change {
  readonly way: string
  readonly at: string
}

/** The name of a parameter is of no importance. */
const keyOf = ({ way }: FiledWay) => way.replace(/(?<=[/ ]):\w+/g, ':')

/** The way in for every method at the same path. */
const anyOf = (key: string) => key.replace(/^\S+/, 'ANY')

/** The method and the end of a path, which remain when the prefix of a group is another one. */
const endOf = (key: string) => key.replace(/^(\S+) .*?(\/[^/:*]+(?:\/[:*][^/]*)*)$/, '$1 $2')

/** Whether a way in has the requests of another one: a wildcard, an optional parameter, or a route for every method. */
function covers(key: string, other: string): boolean {
  const pattern = key
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/^ANY /, '\\S+ ')
    .replace(/\/:\\\?/g, '(?:/[^/]+)?')
    .replaceAll('/:', '/[^/]+')
    .replace(/\*\w*/g, '.*')
  return key !== everyRequest && new RegExp(`^${pattern}$`).test(other)
}

const isOpen = ({ way, facts }: FiledWay) => way !== everyRequest && !facts.map(readFact).some(isGuard)

/** The demands of a way in that another one, which may now have its requests, does not make. */
function lossesOf(from: FiledWay, to: FiledWay): Change[] {
  const isSafe = from.way.startsWith('ANY ') && /^(?:GET|WS|HEAD|OPTIONS|TRACE|QUERY) /.test(to.way)
  const asked = from.facts.filter((fact) => !(isSafe && /^csrf\b/.test(fact)))
  return changesOf(asked, to.facts)
    .filter(({ isWider }) => isWider)
    .map((change) => ({ ...change, from: `${from.way}: ${change.from}` }))
}

/** What has changed since the file was written. */
export function differencesOf(filed: readonly FiledWay[], ways: readonly WayIn[]): Difference[] {
  const before = new Map(filed.map((one) => [keyOf(one), one]))
  const now = new Map(ways.map((one) => [keyOf(one), one]))
  const gone = [...before].filter(([key]) => !now.has(key))
  return [
    ...ways.flatMap((one) => {
      const { way, facts, at } = one
      const key = keyOf(one)
      const old = before.get(key)
      if (old !== undefined) return changesOf(old.facts, facts).map((change) => ({ way, at, ...change }))
      const lossesIn = (all: readonly FiledWay[]) => all.map((from) => lossesOf(from, one))
      const taken = gone.filter(([from]) => covers(key, from)).map(([, from]) => from)
      const moved = gone.filter(([from]) => !covers(key, from) && endOf(from) === endOf(key)).map(([, from]) => from)
      // One of several with the same end may be the one that has moved.
      const [closest = []] = lossesIn(moved).sort((a, b) => a.length - b.length)
      const losses = [...lossesIn([before.get(anyOf(key)) ?? [], taken].flat()).flat(), ...closest]
      if (!isOpen(one) && losses.length > 0) return losses.map((change) => ({ way, at, ...change }))
      return [{ way, at, from: 'no way in', to: facts.join('; ') || 'open', isWider: isOpen(one) }]
    }),
    ...gone.flatMap(([key, one]) => {
      const any = before.has(anyOf(key)) ? now.get(anyOf(key)) : undefined
      const losses =
        any === undefined ? [] : lossesOf(one, any).map((change) => ({ way: any.way, at: any.at, ...change }))
      const from = one.facts.join('; ') || 'open'
      // More than a way in: a middleware of the server, or a plugin that is not seen, may have guarded all others.
      if (key === everyRequest || key.startsWith('? '))
        return [{ way: one.way, at: '', from, to: 'nothing', isWider: true }]
      return [...losses, { way: one.way, at: '', from, to: 'no way in', isWider: false }]
    }),
  ]
}

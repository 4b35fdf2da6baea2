/** What must hold before a request comes in, in the words of the file; one member of a list is enough. */
export interface Fact {
  readonly text: string
  readonly name: string
  readonly accepts: readonly string[]
  /** The plugin that asks for a credential, and whether it must be there. */
  readonly credential?: { readonly by: string; readonly rank: number; readonly mode: string }
}

const modes = ['none', 'optional', 'required']

/** A fact as it is written in the file. */
export function factOf(name: string, accepts: readonly string[] = []): string {
  const text = accepts.length === 0 ? name : `${name} (${accepts.join(', ')})`
  // These separate facts and ways in.
  return text.replace(/[;|\s]+/g, ' ').trim()
}

/** Reads a fact. */
export function readFact(text: string): Fact {
  const [, name = text, list] = /^(.*?)(?: \((.*)\))?$/.exec(text) ?? []
  const accepts = list === undefined ? [] : list.split(', ')
  // Not "own required": a middleware may have any name.
  const [, by, mode] = /^(?!own )(\S+) (none|optional|required)$/.exec(name) ?? []
  return { text, name, accepts, ...(by && { credential: { by, mode: mode!, rank: modes.indexOf(mode!) } }) }
}

/** Facts that keep no person out by themselves: they are about pages, files, limits or tenants, which a subdomain may name, or not visible. */
const weak = /^(?:csrf|tenant|origin|host|files|limit|own|plugin|option|scope|not seen)\b/

/** Whether a fact decides who comes in. */
export const isGuard = ({ name, credential }: Fact): boolean =>
  credential === undefined ? !weak.test(name) : credential.mode === 'required'

/** A difference between two states of a way in. */
export interface Change {
  readonly from: string
  readonly to: string
  /** Whether more requests come in. */
  readonly isWider: boolean
}

/** What has changed from the facts of the file to those of the application. A fact that is gone lets more requests in. */
export function changesOf(before: readonly string[], now: readonly string[]): Change[] {
  const old = before.map(readFact)
  const current = now.map(readFact)
  const keyOf = ({ name, credential }: Fact) => credential?.by ?? name.replace(/^limit .*/, 'limit')
  const sameIn = (facts: readonly Fact[], fact: Fact) => facts.find((one) => keyOf(one) === keyOf(fact))
  const left = current.filter((fact) => sameIn(old, fact) === undefined)
  return [
    ...old.flatMap((from) => changeOf(from, sameIn(current, from))),
    ...left.map(({ text }) => ({ from: 'nothing', to: text, isWider: false })),
  ]
}

function changeOf(from: Fact, to: Fact | undefined): Change[] {
  if (from.text === to?.text) return []
  const ranks = [from.credential?.rank ?? 0, to?.credential?.rank ?? 0] as const
  if (to === undefined) {
    const isNone = from.credential?.rank === 0 || from.name.startsWith('limit ')
    return [{ from: from.text, to: 'nothing', isWider: !isNone }]
  }
  if (ranks[0] !== ranks[1]) return [{ from: from.text, to: to.text, isWider: ranks[1] < ranks[0] }]
  const more = to.accepts.some((one) => !from.accepts.includes(one))
  // The first scheme that finds a credential decides: without it, or after another one, what it refuses may be accepted.
  return [{ from: from.text, to: to.text, isWider: more || from.credential !== undefined }]
}

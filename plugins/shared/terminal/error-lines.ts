import { inspect } from 'node:util'
import { isFrameworkError } from '../../../kernel/index.ts'
import type { Paint } from './paint.ts'
import { type Place, placesOf, placeText, sourceFrame } from './stack.ts'

/** How many errors in a chain of causes are shown. */
const maxCauses = 5

/** One error in a chain of causes, with the same members as in the log. */
export interface Thrown {
  readonly name: string
  readonly message: string
  readonly stack: string
  /** Whether the framework has written the message, which may then name a place. */
  readonly isOwn: boolean
}

/** An error, followed by its causes and the errors in it. */
export function thrownOf(thrown: unknown, depth = 0): Thrown[] {
  if (!(thrown instanceof Error)) return [saidAlone(typeof thrown === 'string' ? thrown : inspect(thrown))]
  const inner = [
    ...(thrown.cause === undefined || thrown.cause === null ? [] : [thrown.cause]),
    ...(thrown instanceof AggregateError ? thrown.errors.slice(0, 3) : []),
  ]
  const below = depth < maxCauses ? inner.flatMap((one) => thrownOf(one, depth + 1)) : []
  const { name, message } = thrown
  return [
    { name: String(name), message: String(message), stack: ownStack(thrown), isOwn: namesPlaces(thrown) },
    ...below,
  ]
}

/** The form of a thrown value that is not an error, and has neither a stack nor a place. */
export const saidAlone = (message: string): Thrown => ({ name: '', message, stack: '', isOwn: false })

/** Whether the message of an error may name a place to show: an error with a 4xx response repeats the client's input. */
export const namesPlaces = (error: unknown): boolean => isFrameworkError(error) && error.status === 500

/** The stack of an error; Bun has the place of a syntax error in a member instead. */
function ownStack(error: Error): string {
  const { name, message, stack } = error
  const { position } = error as { readonly position?: { file?: unknown; line?: unknown; column?: unknown } | null }
  if (typeof position?.file !== 'string') return typeof stack === 'string' ? stack : ''
  return `${name}: ${message}\n    at ${position.file}:${position.line}:${position.column}`
}

/** The messages of errors, without their places: they are equal if the same failure occurs again. */
export const saidBy = (chain: readonly Thrown[]): string => chain.map((one) => partOf(one).said).join('\n')

/** The place of errors in the application, for people; `undefined` if it is not known. */
export function placeOf(chain: readonly Thrown[]): string | undefined {
  const nearest = chain.map(partOf).flatMap((part) => placesIn(part).slice(0, 1).map(placeText))
  return nearest.length === 0 ? undefined : [...new Set(nearest)].join(', ')
}

function partOf({ name, message, stack, isOwn }: Thrown) {
  const parts = partsOf({ name, message, stack })
  if (parts === undefined) return { said: name === '' ? message : `${name}: ${message}`, frames: [], isOwn }
  const heading = parts.before.split('\n')
  // A syntax error begins with its place, followed by a line of code.
  const isPlaceFirst = heading.length > 1 && /^(?:file:\/\/|\/|[A-Za-z]:[\\/]).+:\d+$/.test(heading[0]!)
  const frames = [...(isPlaceFirst ? [heading[0]!] : []), ...parts.frames]
  return { said: (heading.at(-1)! + message).trimEnd(), frames, isOwn }
}

/**
 * The frames of an error: the lines directly after its message. The message may be the client's input, with lines that look like
 * frames, and must not decide which file's lines are shown: a stack without the message, which was changed later, has no frames.
 */
export const framesOf = (error: Pick<Thrown, 'name' | 'message' | 'stack'>): readonly string[] =>
  partsOf(error)?.frames ?? []

function partsOf({ name, message, stack }: Pick<Thrown, 'name' | 'message' | 'stack'>) {
  // A short message may also be a part of the name.
  const found = [`${name}: ${message}`, `: ${message}`, message].find((text) => stack.includes(text))
  if (found === undefined || stack === '') return undefined
  const end = message === '' ? stack.search(/\n|$/) : stack.indexOf(found) + found.length
  const lines = stack.slice(end).split('\n').slice(1)
  const last = lines.findIndex((line) => !/^\s+at\s/.test(line))
  return { before: stack.slice(0, end - message.length), frames: last === -1 ? lines : lines.slice(0, last) }
}

/**
 * A failure for people: its message, its place in the application with the lines around it, and the same for its causes.
 * Frames of packages are left out, unless there are no others or `DEBUG` enables them.
 */
export function failureLines(chain: readonly Thrown[], paint: Paint): string[] {
  const parts = chain.map(partOf).map((part) => ({ ...part, places: placesIn(part) }))
  const hasPlaces = parts.some(({ places }) => places.length > 0)
  const shown = new Set<string>()
  const page = explanation(chain)
  const lines = parts.flatMap(({ said, frames, places, isOwn }, at) => {
    const [first = '', ...rest] = said.split('\n')
    const label = at === 0 ? '' : paint('dim', 'caused by: ')
    // The compiler has already printed the place, with a frame of its own.
    const isFramed = said.includes(' │ ')
    // Errors of the framework name the problem and the remedy; frames of the runtime and of TypeScript loaders add nothing.
    const ofPackages = isOwn ? [] : frames.filter((one) => !/node:|\/dist\/(cli\/|chunks\/hooks)/.test(one)).slice(0, 4)
    const where = isFramed ? [] : hasPlaces ? placeLines(places, shown, paint) : dim(ofPackages, paint)
    const all = process.env.DEBUG ? dim(frames.slice(0, 50), paint) : []
    return [label + paint('red', first), ...rest, ...[...where, ...all].map((line) => `  ${line}`)]
  })
  return page === undefined ? lines : [...lines, paint('dim', page)]
}

/** Where the innermost error of the framework is explained; `undefined` if there is none. */
export function explanation(chain: readonly Thrown[]): string | undefined {
  const own = chain.findLast(({ isOwn }) => isOwn)
  return own && `Explained by: npm run framework -- docs ${own.name}`
}

const dim = (frames: readonly string[], paint: Paint) => frames.map((line) => paint('dim', line.trim()))

const placesIn = ({ said, frames, isOwn }: ReturnType<typeof partOf>): Place[] => [
  ...(isOwn ? placesNamedIn(said) : []),
  ...placesOf(frames),
]

/** Places named in a message: for example, where a route was registered is more useful than where the boot began. */
const placesNamedIn = (said: string) =>
  placesOf((said.match(/(?<=\bat )(?:\/|[A-Za-z]:[\\/])(?:(?! at )[^\n:]){1,500}:\d+:\d+/g) ?? []).slice(0, 4))

function placeLines([first, ...others]: readonly Place[], shown: Set<string>, paint: Paint): string[] {
  if (first === undefined || shown.has(placeText(first))) return []
  shown.add(placeText(first))
  const colors = { source: 'dim', mark: 'red' } as const
  const code = sourceFrame(first).map(({ text, kind }) => (kind === 'place' ? text : paint(colors[kind], text)))
  const callers = others.slice(0, 4).map((place) => paint('dim', `at ${named(place)}`))
  return [paint('cyan', named(first)), ...code, ...callers]
}

const named = (place: Place) => `${place.name === undefined ? '' : `${place.name} `}${placeText(place)}`

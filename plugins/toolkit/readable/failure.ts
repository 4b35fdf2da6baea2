import { inspect } from 'node:util'
import type { Paint } from './paint.ts'
import { type Place, placesOf, placeText, sourceFrame } from './stack.ts'

/** How many errors of a chain of causes are shown. */
const maxCauses = 5
const causedBy = '\ncaused by: '

/** An error with its causes as one text, as pino writes it: every stack, `caused by:` before each but the first. */
export function stackOf(thrown: unknown, depth = 0): string {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : inspect(thrown)
  const inner = [
    ...(thrown.cause === undefined || thrown.cause === null ? [] : [thrown.cause]),
    ...(thrown instanceof AggregateError ? thrown.errors.slice(0, 3) : []),
  ]
  const below = depth < maxCauses ? inner.map((one) => causedBy + stackOf(one, depth + 1)) : []
  return ownStack(thrown) + below.join('')
}

/** Some errors have a stack that does not begin with what they say; Bun has the place of a syntax error in a member. */
function ownStack(error: Error): string {
  const { name, message, stack = '' } = error
  const [first = ''] = message.split('\n')
  const { position } = error as { readonly position?: { file?: unknown; line?: unknown; column?: unknown } | null }
  if (typeof position?.file === 'string') {
    return `${name}: ${message}\n    at ${position.file}:${position.line}:${position.column}`
  }
  return stack.includes(first) ? stack : `${name}: ${message}\n${stack}`
}

/** What errors say, without where: the same failure again has the same. */
export const saidBy = (stack: string): string =>
  partsOf(stack)
    .map(({ said }) => said)
    .join('\n')

interface Part {
  readonly said: string
  readonly frames: readonly string[]
}

function partsOf(stack: string): Part[] {
  return stack.split(causedBy).map((text) => {
    const lines = text.split('\n')
    const end = lines.findIndex((line) => /^\s+at\s/.test(line))
    // In front of a syntax error stands where it is, with a line of code.
    const isPlaceFirst = /^(?:file:\/\/)?\S+:\d+$/.test(lines[0]!)
    const start = isPlaceFirst ? lines.findIndex((line) => /^\w*Error\b/.test(line)) : 0
    const said = lines.slice(Math.max(0, start), end === -1 ? undefined : end)
    return {
      said: said.join('\n').trimEnd(),
      frames: [...(isPlaceFirst ? [lines[0]!] : []), ...(end === -1 ? [] : lines.slice(end))],
    }
  })
}

/**
 * A failure for people: what it says, where in the application, with the lines around that place, and the same of its causes.
 * Frames of packages are left out, unless there are no others or `DEBUG` asks for them.
 */
export function failureLines(stack: string, paint: Paint): string[] {
  const parts = partsOf(stack).map((part) => ({
    ...part,
    places: [...placesNamedIn(part.said), ...placesOf(part.frames)],
  }))
  const hasPlaces = parts.some(({ places }) => places.length > 0)
  const shown = new Set<string>()
  return parts.flatMap(({ said, frames, places }, at) => {
    const [first = '', ...rest] = said.split('\n')
    const label = at === 0 ? '' : paint('dim', 'caused by: ')
    // The compiler has told the place already, with a frame of its own.
    const isFramed = said.includes(' │ ')
    const where = isFramed ? [] : hasPlaces ? placeLines(places, shown, paint) : packageFrames(said, frames, paint)
    const all = process.env.DEBUG ? dim(frames.slice(0, 50), paint) : []
    return [label + paint('red', first), ...rest, ...[...where, ...all].map((line) => `  ${line}`)]
  })
}

/** How an error of the framework begins, which says what is wrong and what to do about it. */
const ours = /^\w+Error(?: \[\w+\])?: [A-Z][A-Z_]+: /

function packageFrames(said: string, frames: readonly string[], paint: Paint): string[] {
  if (ours.test(said)) return []
  // Those of the runtime, and of what loads TypeScript, say nothing that the message does not.
  const telling = frames.filter((frame) => !frame.includes('node:') && !frame.includes('/dist/cli/'))
  return dim(telling.slice(0, 4), paint)
}

const dim = (frames: readonly string[], paint: Paint) => frames.map((line) => paint('dim', line.trim()))

/** Where a route was registered, say, is more than where the boot began. */
const placesNamedIn = (said: string) =>
  placesOf((said.match(/(?<=\bat )(?:\/|[A-Za-z]:[\\/])[^\s():]{1,500}:\d+:\d+/g) ?? []).slice(0, 4))

function placeLines([first, ...others]: readonly Place[], shown: Set<string>, paint: Paint): string[] {
  if (first === undefined || shown.has(placeText(first))) return []
  shown.add(placeText(first))
  const colors = { source: 'dim', mark: 'red' } as const
  const code = sourceFrame(first).map(({ text, kind }) => (kind === 'place' ? text : paint(colors[kind], text)))
  const callers = others.slice(0, 4).map((place) => paint('dim', `at ${named(place)}`))
  return [paint('cyan', named(first)), ...code, ...callers]
}

const named = (place: Place) => `${place.name === undefined ? '' : `${place.name} `}${placeText(place)}`

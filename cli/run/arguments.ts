import { nearest } from '../../kernel/support/nearest.ts'
import type {
  CommandDefinition,
  CommandFlag,
  CommandInput,
} from '../../plugins/shared/development/command-definition.ts'
import { wrongUsage } from '../failure.ts'
import { programName } from '../package.ts'

type Shape = Pick<CommandDefinition, 'arguments' | 'flags'>
type Values = Pick<CommandInput, 'arguments' | 'flags'>

/**
 * Reads the arguments after the name of a command.
 *
 * @throws (as a rejection) CommandFailure for an unknown flag, naming the nearest one.
 */
export async function readArguments(name: string, shape: Shape, argv: readonly string[]): Promise<Values> {
  const flags = Object.entries(shape.flags ?? {})
  const places = shape.arguments ?? []
  // Without arguments, the parser is not loaded, which would be half of the time that such a command takes to start.
  const { placed, values } = argv.length === 0 ? nothing : await parse(name, shape, argv)
  const extra = placed[places.length]
  if (places.at(-1)?.variadic !== true && extra !== undefined) {
    const isEntry = shape.flags?.entry !== undefined && /\.[cm]?[jt]sx?$/.test(extra)
    const hint = isEntry ? `; did you mean --entry ${extra}?` : ''
    throw wrongUsage(`${name}: "${extra}" is one argument too many${hint}`)
  }
  const missing = places.find((place, at) => place.required === true && placed[at] === undefined)
  if (missing !== undefined) throw wrongUsage(`${name}: <${missing.name}> is missing`)
  return {
    arguments: Object.fromEntries(
      places.map(({ name, variadic }, at) => [name, variadic === true ? placed.slice(at) : placed[at]]),
    ),
    flags: Object.fromEntries(
      flags.map(([flag, shape]) => {
        const { type, default: unset } = shape
        const missing = type === 'boolean' ? false : isMultiple(shape) ? [] : undefined
        const value = values.get(flag) ?? unset ?? missing
        return [flag, type === 'number' ? numberOf(`${name}: --${flag}`, value) : value]
      }),
    ),
  }
}

type Typed = string | boolean | readonly string[] | undefined

const isMultiple = (flag: CommandFlag) => flag.type === 'string' && flag.multiple === true

interface Parsed {
  readonly placed: readonly string[]
  readonly values: ReadonlyMap<string, Typed>
}

const nothing: Parsed = { placed: [], values: new Map() }

async function parse(name: string, shape: Shape, argv: readonly string[]): Promise<Parsed> {
  const { Cli, Command: Base, Option } = await import('clipanion')
  const flags = Object.entries(shape.flags ?? {})
  // A class made from data: the options of clipanion are the fields of its instances.
  class Reading extends Base {
    static override paths = [[name]]
    // All arguments are accepted here: errors about missing and extra ones are better with their names.
    placed = Option.Rest()
    constructor() {
      super()
      for (const [flag, shape] of flags) {
        const { type, short } = shape
        const spelling = short === undefined ? `--${flag}` : `-${short},--${flag}`
        const taking = () => (isMultiple(shape) ? Option.Array(spelling) : Option.String(spelling))
        const option = type === 'boolean' ? Option.Boolean(spelling) : taking()
        Object.assign(this, { [`flag ${flag}`]: option })
      }
    }
    override async execute(): Promise<void> {}
  }
  const cli = new Cli({ binaryName: programName, enableColors: false })
  cli.register(Reading)
  try {
    const read = cli.process([name, ...argv]) as unknown as Reading & {
      readonly [option: string]: Typed
    }
    return { placed: read.placed, values: new Map(flags.map(([flag]) => [flag, read[`flag ${flag}`]])) }
  } catch (error) {
    const why = explain(String((error as Error).message), argv, shape.flags ?? {})
    throw wrongUsage(`${name}: ${why}`, error)
  }
}

/** Replaces clipanion's message, which is followed by a usage text of its own and does not always name the flag. */
function explain(message: string, argv: readonly string[], flags: NonNullable<Shape['flags']>): string {
  const unfinished = /Not enough arguments to option (\S+?)\.?$/m.exec(message)?.[1]
  if (unfinished !== undefined) return `${unfinished} needs a value`
  const named = /^(?:Unsupported|Invalid) option name \("([\s\S]*)"\)/.exec(message)?.[1]
  const names = Object.entries(flags).flatMap(([flag, { short }]) => (short === undefined ? [flag] : [flag, short]))
  const valued = argv.find((word) => /^-.*=/s.test(word) && flags[nameOf(word)]?.type === 'boolean')
  if (valued !== undefined) return `--${nameOf(valued)} takes no value; --no-${nameOf(valued)} turns it off`
  const option = named ?? argv.find((word) => /^-./.test(word) && !names.includes(nameOf(word)))
  if (option === undefined) {
    // After an argument, clipanion has no message for this mistake.
    const last = argv.at(-1) ?? ''
    return /^-./.test(last) ? `${last} needs a value` : message.split('\n')[0]!
  }
  const close = nearest(nameOf(option), Object.keys(flags))
  // The value after a misspelt name may be a password.
  return `there is no ${option.replace(/=.*/s, '=…')}${close === undefined ? '' : `; did you mean --${close}?`}`
}

const nameOf = (option: string) => option.replace(/^-+(no-)?/, '').replace(/=.*/s, '')

function numberOf(flag: string, value: unknown): number | undefined {
  if (value === undefined) return undefined
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value)
  if (Number.isNaN(number)) throw wrongUsage(`${flag} takes a number, not "${value}"`)
  return number
}

import { parseArgs } from 'node:util'
import { nearest } from '../../kernel/support/nearest.ts'
import type {
  CommandDefinition,
  CommandFlag,
  CommandInput,
} from '../../plugins/shared/development/command-definition.ts'
import { wrongUsage } from '../failure.ts'

type Shape = Pick<CommandDefinition, 'arguments' | 'flags'>
type Flags = NonNullable<Shape['flags']>

/**
 * Reads the arguments after the name of a command.
 *
 * @throws CommandFailure for an unknown flag, naming the nearest one.
 */
export function readArguments(
  name: string,
  { arguments: places = [], flags = {} }: Shape,
  argv: readonly string[],
): Pick<CommandInput, 'arguments' | 'flags'> {
  const { placed, values } = parse(name, flags, argv)
  const takesAll = places.at(-1)?.variadic === true
  const extra = placed[places.length]
  if (!takesAll && extra !== undefined) {
    const isEntry = flags.entry !== undefined && /\.[cm]?[jt]sx?$/.test(extra)
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
      Object.entries(flags).map(([flag, { type, default: unset }]) => {
        const value = values.get(flag) ?? unset ?? (type === 'boolean' ? false : undefined)
        return [flag, type === 'number' ? numberOf(`${name}: --${flag}`, value) : value]
      }),
    ),
  }
}

const optionOf = ({ type, short }: CommandFlag) =>
  ({ type: type === 'boolean' ? type : 'string', ...(short !== undefined && { short }) }) as const

/** The arguments in order, and the values of flags by name. The parser is not strict: its own messages do not name the nearest flag. */
function parse(name: string, flags: Flags, argv: readonly string[]) {
  const options = Object.fromEntries(Object.entries(flags).map(([flag, given]) => [flag, optionOf(given)]))
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true })
  const placed: string[] = []
  const values = new Map<string, string | boolean>()
  for (const token of tokens) {
    if (token.kind === 'positional') placed.push(token.value)
    if (token.kind !== 'option') continue
    const { rawName, value, inlineValue } = token
    const typeOf = (flag: string) => (Object.hasOwn(flags, flag) ? flags[flag]!.type : undefined)
    const positive = token.name.replace(/^no-/, '')
    const flag = typeOf(positive) === 'boolean' ? positive : token.name
    const type = typeOf(flag)
    if (type === undefined || (type === 'boolean' && value !== undefined))
      throw wrongUsage(`${name}: ${unknown(argv[token.index]!, flags)}`)
    if (type === 'boolean') values.set(flag, flag === token.name)
    else if (value === undefined || (!inlineValue && /^-./.test(value)))
      throw wrongUsage(`${name}: ${rawName} needs a value`)
    // The parser takes the "=" of `-p=1` for a part of the value.
    else values.set(flag, rawName.startsWith('--') ? value : value.replace(/^=/, ''))
  }
  return { placed, values }
}

function unknown(option: string, flags: Flags): string {
  const typed = option.replace(/^-+(no-)?/, '').replace(/=.*/s, '')
  const close = nearest(typed, Object.keys(flags))
  const isKnown = Object.entries(flags).some(([flag, { short }]) => typed === flag || typed === short)
  // The value after a misspelt name may be a password.
  const spelled = isKnown ? option : option.replace(/=.*/s, '=…')
  return `there is no ${spelled}${close === undefined ? '' : `; did you mean --${close}?`}`
}

function numberOf(flag: string, value: unknown): number | undefined {
  if (value === undefined) return undefined
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value)
  if (Number.isNaN(number)) throw wrongUsage(`${flag} takes a number, not "${value}"`)
  return number
}

import type {
  CommandArgument,
  CommandDefinition,
  CommandFlag,
} from '../../plugins/shared/development/command-definition.ts'
import { programName } from '../package.ts'

const namePattern = /^[a-z][\w.:-]*$/i
const wordPattern = /^[a-z][\w-]*$/i
const types: readonly unknown[] = ['string', 'number', 'boolean']

/** The mistake in a user's command, in words; `undefined` if there is none. */
export function faultOf(command: CommandDefinition): string | undefined {
  const { name, description, run } = command
  if (typeof name !== 'string') return "has no name: name = 'greet'"
  if (!namePattern.test(name))
    return `has the name "${name}", which needs a letter first, then letters, digits, "-", "_", "." and ":"`
  if (name === 'help') return `has the name "help", which "${programName} help" has`
  if (typeof description !== 'string' || description.trim() === '')
    return `has no description: description = 'What ${name} does'`
  if (typeof run !== 'function') return 'has no method run'
  return faultOfArguments(command.arguments ?? []) ?? faultOfFlags(command.flags ?? {})
}

function faultOfArguments(places: readonly CommandArgument[]): string | undefined {
  if (!Array.isArray(places)) return 'has arguments that are not a list'
  const names = new Set<string>()
  let optional: string | undefined
  for (const place of places) {
    const name: unknown = place?.name
    if (typeof name !== 'string' || !wordPattern.test(name))
      return `has an argument with the name ${JSON.stringify(name)}`
    if (names.has(name)) return `has two arguments "${name}"`
    if (place.variadic === true && place !== places.at(-1)) {
      return `has the variadic argument "${name}" before others, which would never receive a value`
    }
    if (place.required === true && optional !== undefined) {
      return `has the required argument "${name}" after "${optional}", which is optional`
    }
    if (place.required !== true) optional = name
    names.add(name)
  }
  return undefined
}

function faultOfFlags(flags: { readonly [name: string]: CommandFlag }): string | undefined {
  if (typeof flags !== 'object') return 'has flags that are not an object'
  const letters = new Set<string>()
  for (const [name, flag] of Object.entries(flags)) {
    if (!wordPattern.test(name)) return `has a flag with the name "${name}"`
    if (name === 'help') return 'has the flag "help", which every command has'
    if (/^no-/.test(name)) return `has the flag "${name}"; the prefix "no-" turns another flag off`
    if (!types.includes(flag?.type)) return `has the flag "${name}" without a type: 'string', 'number' or 'boolean'`
    if (flag.default !== undefined && typeof flag.default !== flag.type) {
      return `has the flag "${name}" of type ${flag.type} with a default of another type`
    }
    if ('multiple' in flag && flag.multiple && (flag.type !== 'string' || flag.default !== undefined)) {
      return `has the flag "${name}" with multiple, which only a string without a default can have`
    }
    const { short } = flag
    if (short === undefined) continue
    if (!/^[a-z]$/i.test(short)) return `has the flag "${name}" with the short form "${short}", which is not one letter`
    if (short === 'h') return `has the flag "${name}" with the short form -h, which belongs to the help`
    if (letters.has(short)) return `has the short form -${short} twice`
    letters.add(short)
  }
  return undefined
}

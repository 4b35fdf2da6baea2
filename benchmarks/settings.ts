import { parseArgs } from 'node:util'
import type { LoadSettings } from './load/schedule.ts'
import { serverSuites } from './load/suites.ts'
import type { MicroSettings } from './micro/harness.ts'
import { type MicroName, microSuites } from './micro/suites.ts'
import { findRuntime, type Runtime, runtimeWords } from './support/runtime.ts'

export type ServerName = keyof typeof serverSuites
export type SuiteName = MicroName | ServerName

export const suiteNames = [...Object.keys(microSuites), ...Object.keys(serverSuites)] as SuiteName[]

/** Suites that belong together, under the word that stands for all of them. */
const families: Readonly<Record<string, readonly SuiteName[]>> = {
  bodies: ['post-json', 'post-16k', 'post-1m', 'upload', 'validation'],
  cluster: ['workers-hello', 'workers-work'],
  growth: [
    'growing-routes',
    'growing-plugins',
    'growing-middlewares',
    'growing-connections',
    'workers-hello',
    'workers-work',
  ],
  services: [
    'queues',
    'mqtt',
    'cache',
    'rate-limit',
    'session',
    'storage',
    'mail',
    'compression',
    'upload',
    'static-file',
  ],
}

export const isSuiteWord = (word: string): boolean =>
  Object.hasOwn(families, word) || (suiteNames as readonly string[]).includes(word)

export const isMicro = (name: SuiteName): name is MicroName => name in microSuites

/** What both commands understand. */
export interface Settings {
  /** The arguments that are not options: the suites, preceded by the two sides for a comparison. */
  readonly words: readonly string[]
  /** The names of the measured servers; without them, all servers of a suite. */
  readonly servers: readonly string[] | undefined
  readonly check: boolean
  readonly out: boolean
  readonly load: LoadSettings
  readonly micro: MicroSettings
  readonly boots: number
}

export const optionsHelp = `  --runtime <name>    what runs the servers: ${runtimeWords.join(', ')}, or the path of one (node: this one)
  --generations <n>   how often every process is started anew (3)
  --rounds <n>        slices of each server in a generation (3)
  --seconds <n>       the length of a slice (1)
Suites: ${suiteNames.join(', ')};
${Object.entries(families)
  .map(([word, names]) => `${word} stands for ${names.join(', ')}`)
  .join('\n')}`

function count(name: string, value: string): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} takes a whole number from 1`)
  return number
}

export function readSettings(argv: readonly string[], usage: string): Settings {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      check: { type: 'boolean', default: false },
      out: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      generations: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '1' },
      runtime: { type: 'string', default: 'node' },
      servers: { type: 'string' },
    },
  })
  if (values.help) {
    console.log(`${usage}\n${optionsHelp}`)
    process.exit(0)
  }
  if (values.out && values.servers !== undefined) throw new Error('--out writes whole tables: leave out --servers')
  const generations = count('generations', values.generations)
  const rounds = count('rounds', values.rounds)
  const servers = values.servers?.split(',').map((name) => name.trim())
  return {
    words: positionals,
    servers,
    check: values.check,
    out: values.out,
    load: { generations, rounds, seconds: count('seconds', values.seconds), runtime: findRuntime(values.runtime) },
    micro: { rounds: rounds * 3, check: values.check, servers },
    boots: generations * rounds,
  }
}

/** Whether a suite is measured on a runtime: suites in process read modules of the build, and run on Node.js only. */
function runsOn(name: SuiteName, { kind }: Runtime): boolean {
  return isMicro(name) ? kind === 'node' : Object.keys(serverSuites[name].servers(kind)).length > 0
}

/** The suites that a command line names, or all that the runtime has when it names none. */
export function chooseSuites(given: readonly string[], runtime: Runtime): SuiteName[] {
  const words = given.flatMap((word): readonly string[] => families[word] ?? [word])
  for (const word of words) {
    if (!isSuiteWord(word)) {
      throw new Error(
        `There is no suite "${word}". The suites are ${suiteNames.join(', ')}, and ${Object.keys(families).join(', ')} for several.`,
      )
    }
    if (!runsOn(word as SuiteName, runtime)) throw new Error(`The suite "${word}" is not measured on ${runtime.title}.`)
  }
  return suiteNames.filter((name) => (words.length === 0 ? runsOn(name, runtime) : words.includes(name)))
}

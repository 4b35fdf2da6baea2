import { parseArgs } from 'node:util'
import type { LoadSettings } from './load/schedule.ts'
import { serverSuites } from './load/suites.ts'
import type { MicroSettings } from './micro/harness.ts'
import { type MicroName, microSuites } from './micro/suites.ts'

export type ServerName = keyof typeof serverSuites
export type SuiteName = MicroName | ServerName

export const suiteNames = [...Object.keys(microSuites), ...Object.keys(serverSuites)] as SuiteName[]

export const isMicro = (name: SuiteName): name is MicroName => name in microSuites

/** What both commands understand. */
export interface Settings {
  /** What was given beside the options: suites, or for a comparison first the two sides. */
  readonly words: readonly string[]
  readonly check: boolean
  readonly out: boolean
  readonly load: LoadSettings
  readonly micro: MicroSettings
  readonly boots: number
}

export const optionsHelp = `  --generations <n>   how often every process is started anew (3)
  --rounds <n>        slices of each server in a generation (3)
  --seconds <n>       the length of a slice (1)
  --node <path>       the Node.js that runs the servers (this one)
Suites: ${suiteNames.join(', ')}`

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
      node: { type: 'string', default: process.execPath },
    },
  })
  if (values.help) {
    console.log(`${usage}\n${optionsHelp}`)
    process.exit(0)
  }
  const generations = count('generations', values.generations)
  const rounds = count('rounds', values.rounds)
  return {
    words: positionals,
    check: values.check,
    out: values.out,
    load: { generations, rounds, seconds: count('seconds', values.seconds), node: values.node },
    micro: { rounds: rounds * 3, check: values.check },
    boots: generations * rounds,
  }
}

/** The suites of a command line: all of them when none is named. */
export function chooseSuites(words: readonly string[]): SuiteName[] {
  for (const word of words) {
    if (!suiteNames.includes(word as SuiteName)) {
      throw new Error(`There is no suite "${word}". The suites are ${suiteNames.join(', ')}.`)
    }
  }
  return words.length === 0 ? suiteNames : suiteNames.filter((name) => words.includes(name))
}

import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Chance } from './chance.ts'
import { pause } from './kernel.ts'
import type { OwnServer } from './own-server.ts'
import { bullmq, pgboss, type ServedEngine } from './queue-engines.ts'
import { askToEnd, until } from './queues.ts'

/** An engine whose processes are killed. */
export interface KilledEngine extends ServedEngine {
  readonly settings: object
  /** Options of the messages. */
  readonly options: { readonly timeout: number; readonly [name: string]: number }
}

interface Note {
  /** `late` after so many milliseconds `n` in which a busy machine had left the process no time. */
  readonly what: 'accepted' | 'begin' | 'end' | 'late'
  readonly n: number
  readonly pid: number
  readonly at: number
}

/** What was done to a process, and until when it did nothing. */
interface Blow {
  readonly pid: number | 'server'
  readonly from: number
  readonly to: number
}

/** What has happened in a number of rounds. */
export interface KillReport {
  readonly accepted: number
  readonly handled: number
  /** Messages that were handled more than once, by the rule of the engine. */
  readonly again: number
  readonly blows: number
}

const script = join(import.meta.dirname, '../plugins/fixtures/queues-crowd.mjs')
const root = join(import.meta.dirname, '../..')
/** Milliseconds that a connection may need after a blow: what was begun until then may not have reached the engine. */
const aftermath = 2000

/** What is struck, and whether it dies or stands still. */
type Strike = readonly [role: 'server' | 'worker' | 'publisher', kills: boolean]

const others: readonly Strike[] = [
  ['worker', true],
  ['worker', false],
  ['publisher', true],
  ['publisher', false],
]

/** How many processes are struck how often. */
export interface KillForm {
  readonly rounds: number
  readonly workers: number
  readonly publishers: number
}

/** Each kind of strike within six of them, or within ten where there are as many: the end of the server excuses too much to be frequent. */
function* strikes(chance: Chance, rounds: number): Generator<Strike> {
  for (;;) {
    const lot: Strike[] = [['server', true], ['server', false], ...others, ...(rounds < 10 ? [] : others)]
    while (lot.length > 0) yield lot.splice(chance.below(lot.length), 1)[0]!
  }
}

/** Publishers and workers of one queue, which are killed and stopped, and their server as well. */
class Crowd {
  readonly #settings: object
  readonly #folder = mkdtempSync(join(tmpdir(), 'framework-kills-'))
  readonly #file = join(this.#folder, 'notes')
  readonly #children = new Map<ChildProcess, 'worker' | 'publisher'>()
  readonly blows: Blow[] = []
  /** The codes of those that have ended by themselves. */
  readonly ended: (number | null)[] = []
  #numbers = 0

  constructor(settings: object) {
    this.#settings = { ...settings, file: this.#file, concurrency: 3 }
    writeFileSync(this.#file, '')
  }

  start(role: 'worker' | 'publisher'): void {
    // Each publisher has numbers of its own.
    const from = ++this.#numbers * 1_000_000
    const child = fork(script, [JSON.stringify({ ...this.#settings, role, from })], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    this.#children.set(child, role)
    child.once('exit', (code, signal) => {
      this.#children.delete(child)
      if (signal === null) this.ended.push(code)
    })
  }

  /** Kills or stops one of them, or the server. */
  async strike([role, kills]: Strike, chance: Chance, server: OwnServer): Promise<void> {
    const ms = 50 + chance.below(kills ? 500 : 3000)
    const from = Date.now()
    if (role === 'server') {
      await this.#strikeServer(server, kills, ms)
      this.blows.push({ pid: role, from, to: Date.now() })
      return
    }
    const victim = chance.pick([...this.#children].filter(([, one]) => one === role))[0]
    victim.kill(kills ? 'SIGKILL' : 'SIGSTOP')
    await pause(ms)
    if (kills) this.start(role)
    else victim.kill('SIGCONT')
    this.blows.push({ pid: victim.pid!, from, to: Date.now() })
  }

  async #strikeServer(server: OwnServer, kills: boolean, ms: number): Promise<void> {
    if (kills) await server.kill()
    else server.freeze()
    await pause(ms)
    if (kills) await server.restart()
    else server.thaw()
  }

  notes(): Note[] {
    return readFileSync(this.#file, 'utf8')
      .split('\n')
      .filter((line) => line.endsWith(']'))
      .map((line) => JSON.parse(line) as [Note['what'], number, number, number])
      .map(([what, n, pid, at]) => ({ what, n, pid, at }))
  }

  /** Lets publishers end after what they have begun. */
  async endPublishers(): Promise<void> {
    const publishers = [...this.#children].filter(([, role]) => role === 'publisher').map(([child]) => child)
    const ended = publishers.map((child) => new Promise((resolve) => child.once('exit', resolve)))
    for (const child of publishers) askToEnd(child)
    await Promise.all(ended)
  }

  async close(): Promise<void> {
    const children = [...this.#children.keys()]
    const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)))
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(ended)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Whether the engine may hand a message out again that a process had from a time on. */
function isByRule(blows: readonly Blow[], first: Note, second: Note): boolean {
  return blows.some(
    ({ pid, from, to }) =>
      (pid === first.pid || pid === second.pid || pid === 'server') && from <= second.at && to + aftermath >= first.at,
  )
}

/** Whether an attempt had not ended within its time limit, which counts as failed: on a busy machine, a file may take that long. */
const isLate = (first: Note, ends: readonly Note[], timeout: number) =>
  !ends.some(({ pid, at }) => pid === first.pid && at >= first.at && at < first.at + timeout)

/** What is wrong with the notes: lost messages, and messages that were handled again without a reason. */
function wrongIn(notes: readonly Note[], blows: readonly Blow[], timeout: number): string[] {
  const of = (what: Note['what']) => {
    const found = new Map<number, Note[]>()
    for (const note of notes) if (note.what === what) found.set(note.n, [...(found.get(note.n) ?? []), note])
    return found
  }
  const [accepted, begun, ended] = [of('accepted'), of('begin'), of('end')]
  const lost = [...accepted.keys()].filter((n) => !ended.has(n)).map((n) => `${n} was accepted and never handled`)
  const again = [...ended]
    .filter(([, ends]) => ends.length > 1)
    .flatMap(([n, ends]) => {
      const begins = begun.get(n)!
      return begins
        .slice(1)
        .flatMap((second, i) => (isByRule(blows, begins[i]!, second) || isLate(begins[i]!, ends, timeout) ? [] : [n]))
    })
    .map((n) => `${n} was handled again: ${JSON.stringify([begun.get(n), ended.get(n)])}`)
  return [...lost, ...again]
}

/**
 * Publishes and handles messages while processes and the server die and stop, `rounds` times, by the choices of a seed. Afterwards no accepted
 * message may be lost, none may have been handled twice without a reason, and handlers that never end may not have stopped a worker.
 *
 * @throws Error with the seed.
 */
export async function killRounds(
  engine: KilledEngine,
  server: OwnServer,
  seed: number,
  { rounds, workers, publishers }: KillForm,
): Promise<KillReport> {
  const chance = new Chance(seed)
  const { kind, options, settings } = engine
  const config = engine.config(server.url, settings)
  const crowd = new Crowd({ kind, options, config, name: `kills-${process.pid}-${seed}` })
  try {
    for (let i = 0; i < workers; i++) crowd.start('worker')
    for (let i = 0; i < publishers; i++) crowd.start('publisher')
    await until(() => crowd.notes().some(({ what }) => what === 'end'), 'the first message', 120_000)
    const all = strikes(chance, rounds)
    for (let round = 0; round < rounds; round++) {
      await pause(100 + chance.below(500))
      await crowd.strike(all.next().value!, chance, server)
    }
    // Those that boot on a busy machine have published little between the strikes.
    const published = () => crowd.notes().filter(({ what }) => what === 'accepted').length
    await until(() => published() > rounds, 'a message for each round', 60_000)
    await crowd.endPublishers()
    const unhandled = () => {
      const notes = crowd.notes()
      const ended = new Set(notes.filter(({ what }) => what === 'end').map(({ n }) => n))
      return notes.filter(({ what, n }) => what === 'accepted' && !ended.has(n))
    }
    await until(() => unhandled().length === 0, 'the end of all messages', 60_000).catch(() => {})
    const notes = crowd.notes()
    const late = notes.filter(({ what }) => what === 'late').map(({ pid, n, at }) => ({ pid, from: at - n, to: at }))
    const wrong = wrongIn(notes, [...crowd.blows, ...late], options.timeout)
    if (wrong.length > 0)
      throw new Error(`${wrong.length} messages: ${wrong.slice(0, 5).join('; ')}; ${JSON.stringify(crowd.blows)}`)
    const [accepted, ended] = (['accepted', 'end'] as const).map((what) => notes.filter((note) => note.what === what))
    const handled = new Set(ended!.map(({ n }) => n)).size
    return { accepted: accepted!.length, handled, again: ended!.length - handled, blows: crowd.blows.length }
  } catch (error) {
    throw new Error(
      `${engine.kind}, seed ${seed}, ${rounds} rounds: ${(error as Error).message}; ended by themselves: ${crowd.ended}`,
      {
        cause: error,
      },
    )
  } finally {
    await crowd.close()
  }
}

/** The engines. */
export const killedEngines: readonly KilledEngine[] = [
  {
    ...bullmq,
    settings: { ...bullmq.impatient, lockDuration: 2000, stalledInterval: 1000, publishTimeout: 2000 },
    options: { attempts: 100, timeout: 500 },
  },
  {
    ...pgboss,
    settings: { ...pgboss.impatient, publishTimeout: 2000 },
    options: { attempts: 100, timeout: 500, expireInSeconds: 2 },
  },
]

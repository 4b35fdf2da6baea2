import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once, Server } from 'framework'
import { Chance } from './chance.ts'
import { pause } from './kernel.ts'
import type { OwnServer } from './own-server.ts'
import { askToEnd, until } from './queues.ts'

/** What has happened in a number of rounds. */
export interface OutboxKillReport {
  readonly written: number
  readonly delivered: number
  readonly handled: number
}

const script = join(import.meta.dirname, '../plugins/fixtures/outbox-crowd.mjs')
const root = join(import.meta.dirname, '../..')

interface Delivered {
  readonly key: string
  readonly from: number
  readonly n: number
}

/** What is wrong: lost messages, those of a transaction that was rolled back, and those of a writer that came in a different order than it wrote them. */
function wrongIn(written: ReadonlySet<string>, delivered: readonly Delivered[]): string[] {
  const last = new Map<string, number>()
  const seen = new Set<string>()
  const wrong: string[] = []
  for (const { key, from, n } of delivered) {
    const name = `${key}-${from}-${n}`
    if (!written.has(name)) wrong.push(`${name} was delivered and never committed`)
    if (seen.has(name)) continue
    seen.add(name)
    const before = last.get(`${key}-${from}`) ?? -1
    if (n < before) wrong.push(`${name} came after ${before}`)
    last.set(`${key}-${from}`, n)
  }
  for (const name of written) if (!seen.has(name)) wrong.push(`${name} was committed and never delivered`)
  return wrong
}

/**
 * Writes rows with messages while processes and the database die and stop, `rounds` times, by the choices of a seed.
 *
 * @throws Error with the seed.
 */
export async function outboxKillRounds(started: OwnServer, seed: number, rounds: number): Promise<OutboxKillReport> {
  const chance = new Chance(seed)
  const folder = mkdtempSync(join(tmpdir(), 'framework-outbox-'))
  const file = join(folder, 'delivered')
  writeFileSync(file, '')
  const children = new Set<ChildProcess>()
  let writers = 0
  const start = () => {
    const settings = { url: started.url, file, writer: ++writers }
    const child = fork(script, [JSON.stringify(settings)], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    children.add(child)
    child.once('exit', () => children.delete(child))
  }
  const delivered = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Delivered)
  await using server = new Server({ plugins: { database: { url: started.url, outbox: true, inbox: true } } })
  await server.ready()
  const database = server.services.get('databases').client()
  for (const statement of [
    'drop table if exists written, effects',
    'delete from framework_outbox',
    'delete from framework_inbox',
    'create table written (name text, writer int, n int)',
    'create table effects (message text)',
  ])
    await database.query(statement)
  const waiting = async () => (await server.services.get('databases').outboxes()).length
  try {
    for (let i = 0; i < 3; i++) start()
    await until(() => delivered().length > 20, 'the first messages', 60_000)
    for (let round = 0; round < rounds; round++) {
      await pause(100 + chance.below(400))
      const ms = 50 + chance.below(500)
      const isServer = chance.is(0.15)
      const kills = chance.is(0.6)
      if (isServer) {
        if (kills) await started.kill()
        else started.freeze()
        await pause(ms)
        if (kills) await started.restart()
        else started.thaw()
        continue
      }
      // One ends by itself if it boots while the server is away.
      while (children.size < 3) start()
      const victim = chance.pick([...children])
      const exited = new Promise((resolve) => victim.once('exit', resolve))
      victim.kill(kills ? 'SIGKILL' : 'SIGSTOP')
      // Now and then longer than a message belongs to the process.
      await pause(!kills && chance.is(0.05) ? 12_000 : ms)
      if (kills) await exited
      else victim.kill('SIGCONT')
      while (children.size < 3) start()
    }
    // One relays what the others have left.
    await until(
      async () => {
        for (const child of children) askToEnd(child)
        return children.size === 0
      },
      'the end of the processes',
      60_000,
    )
    start()
    await until(async () => (await waiting()) === 0, 'the delivery of all messages', 60_000).catch(() => {})
    const ended = [...children].map((child) => new Promise((resolve) => child.once('exit', resolve)))
    for (const child of children) askToEnd(child)
    await Promise.all(ended)
    const all = delivered()
    const names = [...new Set(all.map(({ key, from, n }) => `${key}-${from}-${n}`))]
    for (const name of names)
      await database.transaction(() => once(name, () => database.query('insert into effects values ($1)', [name])))
    const { rows } = await database.query<{ name: string; writer: number; n: number }>('select * from written')
    const wrong = wrongIn(new Set(rows.map(({ name, writer, n }) => `${name}-${writer}-${n}`)), all)
    const effects = await database.query<{ message: string; n: number | string }>(
      'select message, count(*) as n from effects group by message',
    )
    for (const { message, n } of effects.rows) if (Number(n) !== 1) wrong.push(`${message} was done ${n} times`)
    if (effects.rows.length !== names.length) wrong.push(`${effects.rows.length} effects of ${names.length} messages`)
    if (wrong.length > 0) throw new Error(`${wrong.length} mistakes: ${wrong.slice(0, 5).join('; ')}`)
    return { written: rows.length, delivered: all.length, handled: names.length }
  } catch (error) {
    throw new Error(`seed ${seed}, ${rounds} rounds: ${(error as Error).message}`, { cause: error })
  } finally {
    const ended = [...children].map((child) => new Promise((resolve) => child.once('exit', resolve)))
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(ended)
    rmSync(folder, { recursive: true, force: true })
  }
}

import { type ChildProcess, fork } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { Server } from 'framework'
import { Chance } from './chance.ts'
import { pause } from './kernel.ts'
import type { OwnServer } from './own-server.ts'
import { until } from './queues.ts'

/** What has happened in a number of rounds. */
export interface OnceKillReport {
  readonly orders: number
  readonly hooks: number
  /** Attempts beyond the first. */
  readonly again: number
  /** Those that had no response when the rounds were over. */
  readonly withoutResponse: number
}

const script = join(import.meta.dirname, '../plugins/fixtures/once-server.mjs')
const root = join(import.meta.dirname, '../..')
const bytes = Buffer.from('the secret of the webhooks')
const secret = `whsec_${bytes.toString('base64')}`

interface Operation {
  readonly kind: 'order' | 'hook'
  readonly id: string
}

function requestOf({ kind, id }: Operation): [path: string, init: RequestInit] {
  const signal = AbortSignal.timeout(2_000)
  if (kind === 'order') return ['/orders', { method: 'POST', headers: { 'idempotency-key': id }, signal }]
  const seconds = Math.floor(Date.now() / 1_000)
  const signature = createHmac('sha256', bytes).update(`${id}.${seconds}.{}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    ...{ 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` },
  }
  return ['/hooks', { method: 'POST', headers, body: '{}', signal }]
}

/**
 * Sends requests with idempotency keys, and webhooks, until each has a response, while processes and the database die and stop, `rounds` times, by the
 * choices of a seed. With `isPatient`, it waits at the end for the keys of dead processes, which are free after half a minute.
 *
 * @throws Error with the seed.
 */
export async function onceKillRounds(
  started: OwnServer,
  seed: number,
  rounds: number,
  isPatient: boolean,
): Promise<OnceKillReport> {
  const chance = new Chance(seed)
  const children = new Map<ChildProcess, string | undefined>()
  const start = () => {
    const child = fork(script, [JSON.stringify({ url: started.url, secret })], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    children.set(child, undefined)
    child.once('message', (address) => children.set(child, String(address)))
    child.once('exit', () => children.delete(child))
  }
  /** Starts those that are missing: one ends by itself if it boots while the database is away. */
  const complete = () =>
    until(
      async () => {
        while (children.size < 2) start()
        return addresses().length === 2
      },
      'the processes',
      60_000,
    )
  const addresses = () => [...children.values()].filter((one) => one !== undefined)
  await using server = new Server({ plugins: { database: { url: started.url, inbox: true } } })
  await server.ready()
  const database = server.services.get('databases').client()
  await database.query('drop table if exists effects, framework_idempotency')
  await database.query('delete from framework_inbox')
  await database.query('create table effects (name text)')

  let [count, again, isOver] = [0, 0, false]
  const sent: Operation[] = []
  const responded = new Set<string>()
  const open: Operation[] = []
  /** Sends it once, and keeps it for later unless it has its response. */
  const attempt = async (operation: Operation) => {
    const address = chance.pick(addresses())
    const [path, init] = requestOf(operation)
    const status = await fetch(`${address}${path}`, init).then(
      (res) => res.arrayBuffer().then(() => res.status),
      () => 0,
    )
    if (status >= 200 && status < 300) responded.add(operation.id)
    else {
      again++
      open.push(operation)
      await pause(isOver ? 200 : 20)
    }
  }
  const lane = async () => {
    while (!isOver) {
      if (addresses().length === 0) await pause(20)
      else if (open.length > 0 && chance.is(0.5)) await attempt(open.shift()!)
      else {
        const operation: Operation = { kind: chance.is(0.5) ? 'order' : 'hook', id: `n${++count}` }
        sent.push(operation)
        await attempt(operation)
        // A client that has missed the response, or a sender that is not sure.
        if (chance.is(0.2)) open.push(operation)
      }
    }
  }
  try {
    await complete()
    const lanes = Array.from({ length: 8 }, lane)
    await until(() => responded.size > 5, 'the first responses', 60_000)
    for (let round = 0; round < rounds; round++) {
      await pause(100 + chance.below(300))
      const ms = 50 + chance.below(300)
      const kills = chance.is(0.6)
      if (chance.is(0.1)) {
        if (kills) await started.kill()
        else started.freeze()
        await pause(ms)
        if (kills) await started.restart()
        else started.thaw()
      } else {
        while (children.size < 2) start()
        const victim = chance.pick([...children.keys()])
        const exited = new Promise((resolve) => victim.once('exit', resolve))
        victim.kill(kills ? 'SIGKILL' : 'SIGSTOP')
        await pause(ms)
        if (kills) await exited
        else victim.kill('SIGCONT')
      }
      while (children.size < 2) start()
    }
    isOver = true
    await Promise.all(lanes)
    await complete()
    const late = Date.now() + 60_000
    while (isPatient && open.length > 0 && Date.now() < late)
      await Promise.all(open.splice(0, 8).map((operation) => attempt(operation)))
    const { rows } = await database.query<{ name: string; n: number | string }>(
      'select name, count(*) as n from effects group by name',
    )
    const done = new Map(rows.map(({ name, n }) => [name, Number(n)]))
    const wrong = sent.flatMap(({ kind, id }) => {
      const times = done.get(`${kind} ${id}`) ?? 0
      if (times > 1) return [`${kind} ${id} was done ${times} times`]
      return times === 0 && responded.has(id) ? [`${kind} ${id} has a response and was not done`] : []
    })
    const withoutResponse = sent.filter(({ id }) => !responded.has(id)).length
    if (isPatient && withoutResponse > 0) wrong.push(`${withoutResponse} never had a response`)
    if (wrong.length > 0) throw new Error(`${wrong.length} mistakes: ${wrong.slice(0, 5).join('; ')}`)
    const orders = sent.filter(({ kind }) => kind === 'order').length
    return { orders, hooks: sent.length - orders, again, withoutResponse }
  } catch (error) {
    throw new Error(`seed ${seed}, ${rounds} rounds: ${(error as Error).message}`, { cause: error })
  } finally {
    isOver = true
    const ended = [...children.keys()].map((child) => new Promise((resolve) => child.once('exit', resolve)))
    for (const child of children.keys()) child.kill('SIGKILL')
    await Promise.all(ended)
  }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { definePlugin } from 'framework/kernel'
import { afterEach, expect, test } from 'vitest'
import { requestInspector } from '../../../plugins/shared/development/inspector-request.ts'
import { setHandover } from '../../../plugins/shared/environment/handover.ts'
import { moveSystemClock } from '../../support/system-clock.ts'
import { lookAt, makeServer, servers } from './support.ts'

afterEach(async () => {
  requestInspector(undefined as never)
  setHandover(undefined as never)
  for (const server of servers.splice(0)) await server.close().catch(() => {})
})

async function page() {
  const { server } = makeServer()
  const look = await lookAt(server)
  return {
    tell: (entry: unknown) => look.json('entry', { process: 1, store: 'processes', entry: JSON.stringify(entry) }),
    list: () => look.json<Record<string, unknown>[]>('processes'),
  }
}

test('the page shows the process that it belongs to', async () => {
  const { list } = await page()
  const [own, ...others] = await list()
  expect(own).toMatchObject({ pid: process.pid, runs: 'server', state: 'ready', memory: expect.any(Number) })
  expect(Math.abs(Date.now() - process.uptime() * 1000 - Number(own!.since))).toBeLessThan(2_000)
  expect(others).toEqual([])
})

test('a process that was killed has ended, though it has not said so', async () => {
  const { tell, list } = await page()
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  await once(child, 'spawn')
  await tell({ pid: child.pid, runs: 'queue-start', since: 1, state: 'ready' })
  expect((await list())[1]).toEqual({ pid: child.pid, runs: 'queue-start', since: 1, state: 'ready' })
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect((await list())[1]).toMatchObject({ pid: child.pid, state: 'ended', why: 'without a report' })
})

test('a process that no longer reports is not shown as ready: another one may have its id', async () => {
  const { tell, list } = await page()
  const time = moveSystemClock()
  const [other, gone] = [
    { pid: process.ppid, runs: 'queue-start', since: 1, state: 'ready' },
    { pid: 2 ** 30, runs: 'worker', since: 1, state: 'ended', why: 'SIGKILL' },
  ]
  try {
    for (const one of [other, gone]) await tell(one)
    await time.advance(29_000)
    expect((await list()).slice(1)).toEqual([other, gone])
    await time.advance(11_000)
    expect((await list()).slice(1)).toEqual([{ ...other, why: 'no report for 40 s' }, gone])
    await tell(other)
    expect((await list()).slice(1)).toEqual([other, gone])
  } finally {
    time.restore()
  }
})

test('a process whose application does not boot has ended without having started', async () => {
  const told: { state: string; why?: string }[] = []
  requestInspector({ token: 'token', port: '1', runs: 'queue-start' })
  setHandover({ open: () => ({ set: (_id, text) => void told.push(JSON.parse(text)), delete() {} }) })
  const { server } = makeServer(true, {
    broken: definePlugin({
      name: 'broken',
      setup() {
        throw new Error('no paper')
      },
    })(),
  })
  await expect(server.ready()).rejects.toThrow('no paper')
  await server.close().catch(() => {})
  expect(told.at(-1)).toMatchObject({ state: 'ended', why: 'a failed start' })
})

test('what is not a report is not shown, and the oldest are dropped', async () => {
  const { tell, list } = await page()
  const good = { pid: 2 ** 30, runs: 'worker', since: 1, state: 'ended', why: 'exit code 1' }
  for (const wrong of [null, 1, [], { ...good, pid: 'x' }, { ...good, since: 1.5 }, { ...good, runs: 1 }])
    await tell(wrong)
  await tell({ ...good, state: 'flying' })
  await tell({ ...good, pid: process.pid })
  expect(await list()).toHaveLength(1)
  for (let i = 0; i < 60; i++) await tell({ ...good, pid: good.pid + i })
  const all = await list()
  expect(all).toHaveLength(51)
  expect(all[1]).toMatchObject({ pid: good.pid + 59, why: 'exit code 1' })
})

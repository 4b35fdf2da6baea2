import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { RouteCollection, Server } from 'framework'
import type { CacheDataTrace } from 'framework/plugins/cache'
import type { LockTrace } from 'framework/plugins/locks'
import { afterEach, expect, test } from 'vitest'
import { pause } from '../../support/kernel.ts'
import { lookAt, makeServer, servers } from '../inspector/support.ts'

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close().catch(() => {})
})

test('metrics count how work under locks ended, how long it waited, and lookups of data', async () => {
  const plugins = { locks: true, cache: true, metrics: true } as const
  const server = new Server({ router: new RouteCollection(), plugins })
  servers.push(server as never)
  await server.ready()
  const locks = server.services.get('locks')
  const text = async () => String((await server.inject.get('/metrics')).body())
  await locks.withLock('a', {}, async () => {
    await expect(locks.withLock('a', {}, () => {})).rejects.toThrow()
    const waits = locks.withLock('a', { wait: 1_000 }, () => {}).catch(() => {})
    await pause(1)
    const shown = await text()
    for (const line of ['locks_held 1', 'locks_waiting 1']) expect(shown.split('\n')).toContain(line)
    await waits
  })
  await expect(locks.withLock('a', {}, () => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
  // The outer one has its lock: it fails with the error of the inner one.
  await expect(locks.withLock('a', {}, () => locks.withLock('a', {}, () => {}))).rejects.toThrow()
  for (let i = 0; i < 3; i++) await server.services.get('cache').getOrSet('a', {}, () => i)
  expect((await text()).split('\n')).toEqual(
    expect.arrayContaining([
      'locks_held 0',
      'locks_waiting 0',
      'lock_outcomes_total{outcome="ok"} 1',
      'lock_outcomes_total{outcome="failed"} 2',
      'lock_outcomes_total{outcome="held"} 3',
      'lock_outcomes_total{outcome="lost"} 0',
      'lock_failures_total 5',
      'lock_duration_seconds_count 6',
      'lock_wait_seconds_count 3',
      'cache_data_total{outcome="miss"} 1',
      'cache_data_total{outcome="hit"} 2',
    ]),
  )
})

test('channels report each call and each lookup', async () => {
  const seen: unknown[] = []
  const onLock = (event: unknown) => {
    const { key, waited, fence, error } = event as LockTrace
    seen.push([key, typeof waited, typeof fence, (error as { code?: string })?.code])
  }
  const onData = (event: unknown) => seen.push({ ...(event as CacheDataTrace) })
  subscribe('tracing:framework:lock:asyncEnd', onLock)
  subscribe('framework:cache.data', onData)
  const server = new Server({ router: new RouteCollection(), plugins: { locks: true, cache: true } })
  servers.push(server as never)
  await server.ready()
  const locks = server.services.get('locks')
  await locks.withLock('a', {}, () => locks.withLock('a', {}, () => {}).catch(() => {}))
  await server.services.get('cache').getOrSet('k', {}, () => 1)
  await pause(1)
  unsubscribe('tracing:framework:lock:asyncEnd', onLock)
  unsubscribe('framework:cache.data', onData)
  expect(seen).toEqual([
    ['a', 'undefined', 'undefined', 'LockHeldError'],
    ['a', 'number', 'number', undefined],
    { key: 'k', outcome: 'miss' },
  ])
})

test('the inspector lists the locks of the process, and the work that has ended', async () => {
  const { server } = makeServer(true, { locks: true })
  await server.ready()
  const look = await lookAt(server)
  const locks = (server as unknown as Server<{ plugins: { locks: true } }>).services.get('locks')
  let waits: Promise<void> | undefined
  await locks.withLock('shelf', {}, async ({ fence }) => {
    waits = locks.withLock('shelf', { wait: 60_000 }, () => {})
    const { panels } = await look.json<{ panels: { key: string; title: string }[] }>('overview')
    const { key } = panels.find(({ title }) => title === 'Locks of this process')!
    const { rows } = await look.json<{ rows: { cells: unknown[] }[] }>(`panel?key=${key}`)
    expect(rows.map(({ cells }) => cells)).toEqual([['shelf', { time: expect.any(Number) }, fence, 1]])
  })
  await waits
  await expect.poll(async () => (await look.newest('locks')).title).toBe('shelf')
  expect(await look.newest('locks')).toMatchObject({ note: 'ok', outcome: 'ok' })
})

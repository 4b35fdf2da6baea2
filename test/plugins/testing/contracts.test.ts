import type { RateLimitStore, SessionStore } from 'framework'
import { memoryCronLock } from 'framework/plugins/cron'
import { expect, test } from 'vitest'
import { testCronLock, testRateLimitStore, testSessionStore } from '../../contracts/index.ts'
import { pause } from '../../support/kernel.ts'

/** The names of the tests that fail. */
async function failuresOf(
  declare: (test: (name: string, run: () => Promise<void>) => void) => void,
): Promise<string[]> {
  const runs: Promise<string | undefined>[] = []
  declare((name, run) => {
    runs.push(
      run().then(
        () => undefined,
        () => name,
      ),
    )
  })
  return (await Promise.all(runs)).filter((name) => name !== undefined)
}

test('a store of sessions whose update inserts brings back a session that has ended', async () => {
  const rows = new Map<string, string>()
  const set = async (id: string, data: object) => void rows.set(id, JSON.stringify(data))
  const store: SessionStore & { update(id: string, data: object): Promise<boolean> } = {
    get: async (id) => (rows.has(id) ? JSON.parse(rows.get(id)!) : undefined),
    set,
    update: async (id, data) => set(id, data).then(() => true),
    destroy: async (id) => rows.delete(id),
  }
  const failures = await failuresOf((test) => testSessionStore(() => store, { test }))
  expect(failures).toContain('a session store: update writes nothing where there is nothing')
  expect(failures).toContain(
    'a session store: a destroyed session never exists again: neither update nor touch restores it',
  )
  // And it keeps what it has for ever.
  expect(failures).toContain('a session store: keeps data for the given seconds, restarted each time')
})

test('a store of limits that reads before it writes lets more requests through', async () => {
  const counts = new Map<string, number>()
  const store: RateLimitStore = {
    async hit(key, windowMs) {
      const count = (counts.get(key) ?? 0) + 1
      await pause(1)
      counts.set(key, count)
      return { count, resetMs: windowMs }
    },
  }
  const failures = await failuresOf((test) => testRateLimitStore(() => store, { test }))
  expect(failures).toContain('a store of rate limits: each of many requests at the same time counts, once')
  expect(failures).toContain('a store of rate limits: a window that is over begins anew, and not earlier')
  expect(failures).not.toContain('a store of rate limits: keys are only keys, and have nothing to do with each other')
})

test('a lock that forgets a tick when its run has ended lets it run again', async () => {
  const failures = await failuresOf((test) =>
    testCronLock(
      () => {
        const lock = memoryCronLock()
        const claim: typeof lock.claim = ({ tick: _, ...rest }) => lock.claim({ ...rest, tick: undefined })
        return { claim, renew: lock.renew, release: lock.release }
      },
      { test },
    ),
  )
  expect(failures).toContain('a lock of jobs: a tick is claimed once, and stays taken when its run has ended')
})

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'vitest'

/** Runs a process that writes one message in a transaction, and kills itself right after the commit. */
export async function writeAndDie(settings: object): Promise<void> {
  const writer = fork(join(import.meta.dirname, '../plugins/fixtures/outbox-writer.mjs'), [JSON.stringify(settings)], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  expect(await once(writer, 'exit')).toEqual([null, 'SIGKILL'])
}

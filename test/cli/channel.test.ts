import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { withTypeScript } from '../support/typescript-process.ts'

/** It sees nothing of its channel until the parent has closed it, and then writes first and reads after that. */
const child = (gone: string) => `
import { existsSync } from 'node:fs'
import { channelTo } from '${new URL('../../cli/process/channel.ts', import.meta.url).href}'
const channel = channelTo(process.ppid, ['SIGTERM'], [])
process.on('SIGTERM', () => process.exit(0))
process.send('ready', () => {
  while (!existsSync(${JSON.stringify(gone)}));
  channel.send({ framework: 'alive' })
})
`

test('a message to a parent of whose end the process has not heard yet does not end it with an error', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'framework-channel-'))
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  const args = [...withTypeScript, '--input-type=module', '-e', child(join(scratch, 'gone'))]
  const process = spawn(globalThis.process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  onTestFinished(() => void process.kill('SIGKILL'))
  let errors = ''
  process.stderr!.on('data', (data) => {
    errors += data
  })
  const ended = once(process, 'exit')
  await once(process, 'message')
  process.disconnect()
  writeFileSync(join(scratch, 'gone'), '')
  expect(await ended, errors).toEqual([0, null])
})

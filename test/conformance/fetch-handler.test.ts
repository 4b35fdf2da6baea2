import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { runtimeBinary } from '../runtimes/run.mjs'

const script = join(import.meta.dirname, 'fetch-handler.mjs')
const commands = {
  bun: [runtimeBinary('bun')!, '--tsconfig-override=tsconfig.build.json', script],
  deno: [runtimeBinary('deno')!, 'serve', '-A', '--node-modules-dir=manual', '--host=127.0.0.1', '--port=0', script],
}
let child: ChildProcess | undefined
afterEach(async () => {
  const exited = new Promise((resolve) => child?.once('exit', resolve))
  child?.kill('SIGKILL')
  await exited
})

/** Starts a runtime that listens by itself; it prints its address. */
function served([command, ...args]: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' }
    child = spawn(command!, args, { cwd: join(import.meta.dirname, '../..'), env })
    let text = ''
    const read = (data: Buffer) => {
      text += data
      const port = /127\.0\.0\.1:(\d+)|localhost:(\d+)/.exec(text)
      if (port !== null) resolve(`http://127.0.0.1:${port[1] ?? port[2]}/`)
    }
    child.stdout!.on('data', read)
    child.stderr!.on('data', read)
    child.once('exit', () => reject(new Error(text)))
  })
}

test.each(Object.entries(commands))('%s: a default export knows its clients', async (_name, command) => {
  const url = await served(command)
  const ask = async (headers = {}) => {
    const response = await fetch(url, { headers })
    return [response.status, ((await response.json()) as { ip?: string }).ip]
  }
  expect(await ask()).toEqual([200, '127.0.0.1'])
  expect(await ask({ 'x-forwarded-for': '203.0.113.7' })).toEqual([200, '203.0.113.7'])
  expect(await ask({ 'x-forwarded-for': '203.0.113.8' })).toEqual([200, '203.0.113.8'])
  expect(await ask({ 'x-forwarded-for': '203.0.113.7' })).toEqual([429, undefined])
})

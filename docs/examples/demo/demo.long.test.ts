import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { runtimeBinary } from '../../../test/runtimes/run.mjs'
import { startProgram } from '../../../test/support/docs/program.ts'

describe.each([
  ['bun', ['docs/examples/demo/main.ts']],
  ['deno', ['run', '--allow-all', 'docs/examples/demo/main.ts']],
])('on %s', (name, args) => {
  const binary = runtimeBinary(name)

  test.skipIf(binary === undefined)('it answers, streams and closes the same way', async () => {
    const program = await startProgram(args, {}, binary)
    try {
      const book = await fetch(`${program.url}/books/1`)
      expect(await book.json()).toMatchObject({ title: 'The Dispossessed' })
      const wrong = await fetch(`${program.url}/books`, { method: 'PUT' })
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, POST'])
      const leave = new AbortController()
      const stream = await fetch(`${program.url}/events`, { signal: leave.signal })
      const reader = stream.body!.getReader()
      let text = ''
      while (!text.includes('event: hello')) {
        const { value, done } = await reader.read()
        expect([done, text]).toEqual([false, text])
        text += new TextDecoder().decode(value)
      }
      leave.abort()
      const socket = new WebSocket(`${program.url.replace('http', 'ws')}/live`)
      const first = await new Promise((resolve) => socket.on('message', (data) => resolve(String(data))))
      expect(first).toBe('{"type":"readers","data":1}')
      const closed = new Promise((resolve) => socket.on('close', resolve))
      expect(await program.end('SIGTERM')).toEqual({ code: 0, signal: null })
      expect(await closed).toBe(1001)
    } finally {
      program.child.kill('SIGKILL')
    }
  })
})

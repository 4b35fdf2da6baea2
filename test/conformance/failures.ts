import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Answer } from './http.ts'

/** The application as the cases see it. */
interface Tested {
  port(): number
  send(method: string, path: string, headers?: Record<string, string>, body?: string): Promise<Answer>
  events(): Promise<string[]>
}

/** A request whose handler or whose hook fails has a response, over every connection. */
export function describeFailures({ port, send, events }: Tested): void {
  test.each([
    'sync',
    'async',
    'string',
    'frozen',
    'null',
  ])('VA-08 ends a request whose handler throws (%s)', async (kind) => {
    // One that was waited for until its time-out would be 503.
    const { status, bytes } = await send('GET', `/throw/${kind}`)
    expect([status, bytes.length]).toEqual([500, 0])
  })

  const refusal = { code: 'StoreError', message: 'STORE: the store cannot be written' }
  const length = String(JSON.stringify(refusal).length)

  test('answers with the status and code of the failure of an onSend hook', async () => {
    const value = await send('GET', '/on-send/value')
    expect([value.status, value.headers['content-length'], value.json]).toEqual([503, length, refusal])
    const thrown = await send('GET', '/on-send/throw')
    expect([thrown.status, thrown.headers['content-length'], thrown.text]).toEqual([500, '0', ''])
  })

  test('answers HEAD with the head of that, and lets a stream go that was to be sent', async () => {
    const head = await send('HEAD', '/on-send/value')
    expect([head.status, head.headers['content-length'], head.bytes.length]).toEqual([503, length, 0])
    for (const method of ['GET', 'HEAD']) expect((await send(method, '/on-send/stream')).status).toBe(503)
    expect((await events()).filter((event) => event === 'stream let go')).toHaveLength(2)
  })

  test('answers so when the body of the request was not read, and when an unread one is large', async () => {
    for (const body of ['{}', `"${'x'.repeat(90_000)}"`]) {
      const { status, json } = await send('POST', '/on-send/body', { 'content-type': 'application/json' }, body)
      expect([status, json]).toEqual([503, refusal])
    }
  })

  test('continues when a hook fails after the client has left', async () => {
    const socket = connect(port(), '127.0.0.1', () => {
      socket.write('GET /on-send/value?ms=60 HTTP/1.1\r\nHost: x\r\n\r\n')
    })
    // In the middle of the hook, as a rule: otherwise the test shows less.
    await pause(30)
    socket.destroy()
    await pause(60)
    expect((await send('GET', '/on-send/value')).status).toBe(503)
  })
}

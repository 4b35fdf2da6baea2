import { describe, expect, test } from 'vitest'
import type { RawRequest } from '../../../kernel/http/raw.ts'
import { fetchHandler } from '../../../kernel/runtime/web/fetch.ts'

const ok = { status: 200, headers: ['content-type', 'text/plain', 'content-length', '2'], body: 'ok' }

describe('web requests', () => {
  test('answers without a promise when the handler does', () => {
    const fetch = fetchHandler((raw) => raw.respond(ok))
    expect(fetch(new Request('http://x/'))).toBeInstanceOf(Response)
  })

  test('answers by a promise when the handler answers later', async () => {
    const fetch = fetchHandler((raw) => setTimeout(() => raw.respond(ok), 5))
    const pending = fetch(new Request('http://x/'))
    expect(pending).toBeInstanceOf(Promise)
    expect(await (await pending).text()).toBe('ok')
  })

  test('takes path and host from the URL when there is no Host header', () => {
    let seen: RawRequest | undefined
    fetchHandler((raw) => {
      seen = raw
    })(new Request('https://a.test:8443/b/c?d=1'))
    expect([seen?.target, seen?.host, seen?.secure, seen?.hostOptional]).toEqual([
      '/b/c?d=1',
      'a.test:8443',
      true,
      true,
    ])
  })

  test('BO-02 counts a body whose content-length understates it', async () => {
    const request = new Request('http://x/', {
      method: 'POST',
      body: 'x'.repeat(100),
      headers: { 'content-length': '5' },
    })
    let failure: unknown
    await fetchHandler((raw) => {
      raw.bytes(50).catch((error: unknown) => {
        failure = error
        raw.respond({ status: 413, headers: [], body: null })
      })
    })(request)
    expect(failure).toMatchObject({ code: 'PayloadTooLargeError' })
  })

  test('leaves it to the runtime of a socket to count a whole body', () => {
    const counted: unknown[] = []
    const handler = (raw: RawRequest) => {
      counted.push(raw.countsBody)
      raw.respond(ok)
    }
    fetchHandler(handler, { wire: true })(new Request('http://x/'))
    fetchHandler(handler)(new Request('http://x/'))
    expect(counted).toEqual([true, false])
  })

  test('joins lines of one header, in any case, where it has the lines', () => {
    const lines = [
      ['Host', 'x'],
      ['COOKIE', 'a=1'],
      ['cookie', 'b=2'],
      ['X-A', '1'],
      ['x-a', '2'],
    ] as const
    let seen: RawRequest | undefined
    const handler = (raw: RawRequest) => {
      seen = raw
    }
    fetchHandler(handler, { wire: true, linesOf: () => lines })(new Request('http://x/'))
    expect([seen?.host, seen?.header('cookie'), seen?.header('x-a')]).toEqual(['x', 'a=1; b=2', '1, 2'])
    expect(seen?.headers()).toEqual({ host: 'x', cookie: 'a=1; b=2', 'x-a': '1, 2' })
  })

  test('keeps repeated set-cookie headers apart and adds no content type of its own', async () => {
    const headers = ['set-cookie', 'a=1', 'set-cookie', 'b=2']
    const response = await fetchHandler((raw) => raw.respond({ status: 200, headers, body: 'text' }))(
      new Request('http://x/'),
    )
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(response.headers.get('content-type')).toBeNull()
  })

  test('reads a stream only as fast as it is read, and lets go of it when the reader leaves', async () => {
    let pulled = 0
    let ended = false
    async function* source() {
      try {
        for (;;) {
          pulled++
          yield 'piece'
        }
      } finally {
        ended = true
      }
    }
    const response = await fetchHandler((raw) => raw.respond({ status: 200, headers: [], body: source() }))(
      new Request('http://x/'),
    )
    const reader = response.body!.getReader()
    await reader.read()
    expect(pulled).toBeLessThan(3)
    await reader.cancel()
    await Promise.resolve()
    expect(ended).toBe(true)
  })

  test('reports a client that leaves once, and none after the response', async () => {
    const controller = new AbortController()
    let left = 0
    const fetch = fetchHandler((raw) => {
      raw.onAbort(() => left++)
      if (raw.target === '/now') raw.respond(ok)
    })
    await fetch(new Request('http://x/now', { signal: controller.signal }))
    void fetch(new Request('http://x/never', { signal: controller.signal }))
    controller.abort()
    await Promise.resolve()
    expect(left).toBe(1)
  })

  test('answers 500 when a header cannot be written', async () => {
    const response = await fetchHandler((raw) => raw.respond({ status: 200, headers: ['x', 'a\nb'], body: null }))(
      new Request('http://x/'),
    )
    expect(response.status).toBe(500)
  })
})

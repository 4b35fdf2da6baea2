import { Readable } from 'node:stream'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { RawRequest, StreamBody } from '../../../kernel/http/raw.ts'
import { type Adapter, defaultLimits } from '../../../kernel/runtime/adapter.ts'
import { NodeAdapter } from '../../../kernel/runtime/node/node.ts'
import { fetchHandler } from '../../../kernel/runtime/web/fetch.ts'
import { FormattedFailures } from '../../../plugins/shared/failures/formatted-failures.ts'
import { sendRaw } from '../../conformance/raw-client.ts'

const failures = new FormattedFailures()

const total = 100_000

/** How often others had their turn. */
let turns = 0

/** Whether a source has another piece: a fast machine sends `total` of them before others need a turn. */
const hasMore = (made: number) => made < total || (turns < 4 && made < 100 * total)

/** Sources that always have a piece ready, and the functions that make each of them fail. */
const sources: Record<string, () => { body: StreamBody; fail(error: Error): void }> = {
  Readable: () => {
    let made = 0
    const body = new Readable({
      read() {
        this.push(hasMore(made++) ? 'x' : null)
      },
    })
    return { body, fail: (error) => body.destroy(error) }
  },
  generator: () => {
    let failure: Error | undefined
    async function* make() {
      for (let made = 0; hasMore(made); made++) {
        if (failure) throw failure
        yield 'x'
      }
    }
    return {
      body: make(),
      fail: (error) => {
        failure = error
      },
    }
  },
  ReadableStream: () => {
    let made = 0
    let failure: Error | undefined
    const piece = new Uint8Array(1)
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (failure) controller.error(failure)
        else if (hasMore(made++)) controller.enqueue(piece)
        else controller.close()
      },
    })
    return {
      body,
      fail: (error) => {
        failure = error
      },
    }
  },
}

let adapter: Adapter | undefined
const warnings: unknown[] = []
const onWarning = (_message: string, error?: unknown) => warnings.push(error)

/** Asks for the response of a handler, over a socket or as a web request, and reads all of it. */
const ways: Record<string, (handler: (raw: RawRequest) => void) => Promise<unknown>> = {
  'a socket': async (handler) => {
    adapter = new NodeAdapter()
    const { port } = await adapter.listen(
      { port: 0, host: '127.0.0.1', failures, upgrades: [], limits: defaultLimits, onWarning },
      handler,
    )
    return sendRaw(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  },
  'a web request': async (handler) => {
    const response = await fetchHandler(handler, { onWarning })(new Request('http://x/'))
    const reader = response.body!.getReader()
    // A client that takes every piece at once.
    while (!(await reader.read()).done);
    return undefined
  },
}

afterEach(async () => {
  vi.useRealTimers()
  warnings.length = 0
  await adapter?.stop()
  adapter = undefined
})

describe.each(Object.keys(ways))('a source that always has a piece ready, over %s', (way) => {
  test.each(Object.keys(sources))('lets others have their turn: %s', async (kind) => {
    turns = 0
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    await ways[way]!((raw) => {
      setImmediate(count)
      raw.respond({ status: 200, headers: [], body: sources[kind]!().body })
    })
    isOver = true
    expect(turns).toBeGreaterThan(3)
  })

  test.each(Object.keys(sources))('fails when it fails: %s', async (kind) => {
    const asked = ways[way]!((raw) => {
      const { body, fail } = sources[kind]!()
      setTimeout(() => fail(new Error('on purpose')), 10)
      raw.respond({ status: 200, headers: [], body })
    })
    await asked.catch(() => {})
    expect(warnings.map(String)).toEqual(['Error: on purpose'])
  })
})

test('ends also where a test has faked the clock', async () => {
  turns = 4
  vi.useFakeTimers({ toFake: ['setImmediate', 'setTimeout', 'performance', 'Date'] })
  const response = await fetchHandler((raw) => {
    raw.respond({ status: 200, headers: [], body: sources.generator!().body })
  })(new Request('http://x/'))
  expect((await response.text()).length).toBe(total)
})

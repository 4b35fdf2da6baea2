import { describe, expect, it } from 'vitest'
import { definePlugin } from '../../../../kernel/index.ts'
import { Server } from '../../../../server.ts'

const long = 20_000
const texts = {
  ascii: 'a'.repeat(long),
  'in two bytes, of one in V8': 'é'.repeat(long),
  'in three bytes': '€'.repeat(long),
  'in four bytes': '😀'.repeat(long),
  'with half a surrogate pair': `${'a'.repeat(long)}\ud83d${'b'.repeat(long)}`,
  'with one other character at its end': `${'a'.repeat(long)}€`,
  'longer than the memory that is kept': `${'a'.repeat(1_048_577)}é`,
}

describe('A long text', () => {
  it.each(Object.entries(texts))('%s is sent with its length in bytes', async (_name, text) => {
    const server = new Server({ port: 0 })
    const sizes: unknown[] = []
    server.get('/', (_req, res) => res.text(text))
    const measuring = definePlugin({
      name: 'measuring',
      setup: (ctx) => ctx.onResponse((_req, res) => void sizes.push(res.bodySize)),
    })
    server.register(measuring())
    await server.listen()
    const bytes = Buffer.from(text)
    // A shorter text after a longer one, in the same memory.
    for (let i = 0; i < 2; i++) {
      const response = await fetch(`http://127.0.0.1:${server.port}/`)
      expect(response.headers.get('content-length')).toBe(String(bytes.length))
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
    }
    await server.close()
    expect(sizes).toEqual([bytes.length, bytes.length])
  })
})

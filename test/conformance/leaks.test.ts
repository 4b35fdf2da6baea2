import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { printedBy, targets } from './targets.ts'

let listener: Server
beforeAll(async () => {
  listener = createServer()
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void listener.close())

const kinds = ['child process', 'interval', 'interval', 'interval', 'server', 'socket', 'timer', 'worker']
/** Servers made with `Bun.serve`, `Deno.serve` and `Deno.listen`. */
const native: { readonly [runtime: string]: number } = { bun: 1, deno: 2 }

test.each(
  targets.filter(({ adapter }) => adapter === undefined).map((target) => [target.name, target] as const),
)('leaks are found on %s', async (_name, target) => {
  const { port } = listener.address() as AddressInfo
  expect(await printedBy(target, join(import.meta.dirname, 'leaks.mjs'), [String(port)])).toEqual({
    kinds: [...kinds, ...Array.from({ length: native[target.runtime] ?? 0 }, () => 'server')].sort(),
    plugins: ['answering', 'leaky'],
    // Deno does not say which line has made a worker, and that of the watching is the nearest.
    files: target.runtime === 'deno' ? ['leaks.mjs', 'track.js'] : ['leaks.mjs'],
    after: [],
  })
})

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

test.each(
  targets.filter(({ adapter }) => adapter === undefined).map((target) => [target.name, target] as const),
)('leaks are found on %s', async (_name, target) => {
  const { port } = listener.address() as AddressInfo
  expect(await printedBy(target, join(import.meta.dirname, 'leaks.mjs'), [String(port)])).toEqual({
    kinds: ['child process', 'interval', 'interval', 'server', 'socket', 'timer'],
    plugins: ['leaky'],
    files: ['leaks.mjs'],
    after: [],
  })
})

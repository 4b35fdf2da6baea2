import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { askedOneOf, typesAgain } from '../../cli/prompts/ask.ts'

const kinds = ['s3', 'azure', 'local'] as const
let stdin: PassThrough & { isTTY?: boolean }
let asked: string

beforeEach(() => {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} })
  stdin = terminal()
  const stderr = terminal()
  asked = ''
  stderr.on('data', (chunk: Buffer) => {
    asked += chunk.toString()
  })
  vi.stubEnv('CI', '')
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as never)
  vi.spyOn(process, 'stdout', 'get').mockReturnValue(terminal() as never)
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(stderr as never)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

const down = '\u001b[B'

/** Presses keys when the question is there. */
async function choose(...keys: string[]) {
  const choice = askedOneOf('--type', undefined, kinds)
  await vi.waitUntil(() => asked.includes('Which type?'))
  for (const key of keys) stdin.write(key)
  return choice
}

test.each([
  [['\r'], 's3'],
  [[down, '\r'], 'azure'],
  [[down, down, '\r'], 'local'],
])('on a terminal %j is a response', async (keys, kind) => {
  expect(await choose(...keys)).toBe(kind)
  for (const name of kinds) expect(asked).toContain(name)
})

test.each([['\u0003'], ['\u001b']])('%j takes the question back', async (key) => {
  expect(await choose(key)).toBeUndefined()
})

test('what cannot be undone asks for a name until it is right', async () => {
  const isSure = typesAgain('orders', 'remove its messages')
  await vi.waitUntil(() => asked.includes('Type "orders" to remove its messages'))
  stdin.write('\r')
  await vi.waitUntil(() => asked.includes('That is not "orders". Ctrl+C cancels'))
  for (const key of 'orders') stdin.write(key)
  stdin.write('\r')
  expect(await isSure).toBe(true)
})

test('and Ctrl+C takes it back', async () => {
  const isSure = typesAgain('orders', 'remove its messages')
  await vi.waitUntil(() => asked.includes('Type "orders"'))
  stdin.write('\u0003')
  expect(await isSure).toBe(false)
})

test('nothing is asked when the kind was typed, where no one can answer, and in CI', async () => {
  expect(await askedOneOf('--type', 'azure', kinds)).toBe('azure')
  const failure = { message: '--type is missing: s3, azure or local', exitCode: 2 }
  vi.stubEnv('CI', 'true')
  await expect(askedOneOf('--type', undefined, kinds)).rejects.toMatchObject(failure)
  vi.stubEnv('CI', '')
  stdin.isTTY = false
  await expect(askedOneOf('--type', undefined, kinds)).rejects.toMatchObject(failure)
  expect(asked).toBe('')
})

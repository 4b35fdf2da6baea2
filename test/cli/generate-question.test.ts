import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { oneOf } from '../../cli/prompts/ask.ts'

const kinds = ['s3', 'azure', 'local'] as const
let stdin: PassThrough & { isTTY?: boolean }
let asked: string

beforeEach(() => {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true })
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

test.each([
  ['local\n', 'local'],
  ['2\n', 'azure'],
  ['\n', 's3'],
  ['no such\n__proto__\n3\n', 'local'],
])('on a terminal %j is an answer', async (typed, kind) => {
  stdin.write(typed)
  expect(await oneOf('--type', undefined, kinds)).toBe(kind)
  expect(asked).toContain('Which type?\n  1 s3  2 azure  3 local\n')
})

test.each([['\u0003'], ['\u0004']])('%j takes the question back', async (typed) => {
  stdin.write(typed)
  expect(await oneOf('--type', undefined, kinds)).toBeUndefined()
})

test('nothing is asked when the kind was typed, where nobody can answer, and in CI', async () => {
  expect(await oneOf('--type', 'azure', kinds)).toBe('azure')
  const failure = { message: '--type is missing: s3, azure or local', exitCode: 2 }
  vi.stubEnv('CI', 'true')
  await expect(oneOf('--type', undefined, kinds)).rejects.toMatchObject(failure)
  vi.stubEnv('CI', '')
  stdin.isTTY = false
  await expect(oneOf('--type', undefined, kinds)).rejects.toMatchObject(failure)
  expect(asked).toBe('')
})

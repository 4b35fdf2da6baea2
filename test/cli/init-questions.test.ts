import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Answers, askFor } from '../../cli/init/questions.ts'
import type { Part } from '../../cli/init/settings.ts'
import { Cancelled, openPrompts } from '../../cli/prompts/prompts.ts'

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'framework-questions-')))
  vi.spyOn(process, 'cwd').mockReturnValue(folder)
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

/** Types lines, each as soon as the question before it has come, or all at once. */
async function answer(lines: readonly string[], given: Answers = {}, atOnce = false) {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough(), { isTTY: true })
  const [left, shown]: [string[], string[]] = [[...lines], []]
  output.on('data', (chunk: Buffer) => {
    const text = stripVTControlCharacters(chunk.toString())
    shown.push(text)
    if (!atOnce && text.endsWith(': ') && left.length > 0) setImmediate(() => input.write(`${left.shift()}\r`))
  })
  if (atOnce) input.write(left.map((line) => `${line}\r`).join(''))
  const prompts = openPrompts(input, output)
  try {
    const answers = await askFor(
      { folder: join(folder, 'app'), git: false, ...given },
      { prompts, packageManager: 'npm' },
    )
    return { ...answers, shown: shown.join('') }
  } finally {
    prompts.close()
  }
}

const nothing = { packageManager: 'npm', parts: new Set(), install: true, git: false }

test('Enter alone takes what stands in brackets', async () => {
  const { shown, ...answers } = await answer(['', '', ''])
  expect(answers).toEqual({ ...nothing, folder: join(folder, 'app'), name: 'app' })
  expect(shown).toContain('1 npm  2 pnpm  3 yarn  4 bun  5 deno')
})

test('answers are names or numbers, and what is neither is asked again', async () => {
  const lines = ['cargo', '9', '2', '1, crons', 'cron graphql', 'maybe', 'n']
  const { shown, ...answers } = await answer(lines)
  expect(answers).toMatchObject({ packageManager: 'pnpm', parts: new Set(['cron', 'graphql']), install: false })
  expect(shown.match(/One of npm, pnpm, yarn, bun, deno, or its number\./g)).toHaveLength(2)
  expect(shown).toContain('Of mqtt, cron, graphql, or their numbers.')
  expect(shown).toContain('yes or no')
})

test('lines of a paste, which come before their questions, are answers all the same', async () => {
  expect(await answer(['bun', 'mqtt', 'no'], {}, true)).toMatchObject({
    packageManager: 'bun',
    parts: new Set(['mqtt']),
    install: false,
  })
})

test('what a flag has said is not asked', async () => {
  const given = { name: 'mine', packageManager: 'deno', parts: new Set<Part>(['mqtt']), install: false } as const
  const { shown, ...answers } = await answer([], given)
  expect([shown, answers]).toEqual(['', { ...given, folder: join(folder, 'app'), git: false }])
})

test('scheduled jobs are offered for Node.js only', async () => {
  expect(await answer(['bun', '2', ''])).toMatchObject({ parts: new Set(['graphql']) })
})

test('a folder whose name is no name of a package, or that has a project, is asked about', async () => {
  mkdirSync(join(folder, 'taken/src'), { recursive: true })
  writeFileSync(join(folder, 'taken/src/server.ts'), '')
  writeFileSync(join(folder, 'notes.txt'), '')
  const lines = [join(folder, 'taken'), join(folder, 'My App'), 'No Name', '', '', '', '']
  const { shown, ...answers } = await answer(lines, { folder: undefined })
  expect(answers).toMatchObject({ folder: join(folder, 'My App'), name: 'my-app' })
  expect(shown).toContain('There is a src/server.ts already.')
  expect(shown).toContain('it has upper-case letters')
})

test('a folder in which the framework was installed is taken as it is', async () => {
  writeFileSync(join(folder, 'package.json'), '{ "name": "shop" }')
  writeFileSync(join(folder, 'package-lock.json'), '{}')
  mkdirSync(join(folder, 'node_modules'))
  expect(await answer(['', '', '', ''], { folder: undefined })).toMatchObject({ folder: '.', name: 'shop' })
})

test.each([
  ['Ctrl+C', '\u0003'],
  ['Ctrl+D', '\u0004'],
])('%s leaves', async (_name, key) => {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough(), { isTTY: true })
  const prompts = openPrompts(input, output)
  const answers = askFor({ folder: 'app' }, { prompts, packageManager: 'npm' })
  input.write('1\r')
  input.write(key)
  await expect(answers).rejects.toBeInstanceOf(Cancelled)
  expect(existsSync(join(folder, 'app'))).toBe(false)
})

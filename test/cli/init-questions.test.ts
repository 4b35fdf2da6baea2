import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Extra, Part } from '../../cli/init/parts.ts'
import { type Answers, askFor } from '../../cli/init/questions.ts'
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

const down = '\u001b[B'
const enter = '\r'
const clear = '\u0015'

/** Presses the keys of each question as soon as it is shown. */
async function answer(keys: readonly (readonly string[])[], given: Answers = {}) {
  const { input, output, shown } = terminal()
  const left = [...keys]
  output.on('data', (chunk: Buffer) => {
    // The beginning of a question, and the mistake in its response.
    if (/[◆▲]/.test(chunk.toString()) && left.length > 0)
      for (const key of left.shift()!) setImmediate(() => input.write(key))
  })
  const prompts = openPrompts(input, output)
  const answers = await askFor(
    { folder: join(folder, 'app'), git: false, ...given },
    { prompts, packageManager: 'npm' },
  )
  return { ...answers, shown: shown() }
}

function terminal() {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 100 })
  let text = ''
  output.on('data', (chunk: Buffer) => {
    text += stripVTControlCharacters(chunk.toString())
  })
  return { input, output, shown: () => text }
}

const nothing = { packageManager: 'npm', parts: new Set(), extras: new Set(), install: true, git: false }

test('Enter alone takes the default', async () => {
  const { shown, ...answers } = await answer([[enter], [enter], [enter], [enter]])
  expect(answers).toEqual({ ...nothing, folder: join(folder, 'app'), name: 'app' })
  for (const manager of ['● npm', '○ pnpm', '○ yarn', '○ bun', '○ deno']) expect(shown).toContain(manager)
})

test('the arrow keys choose, and the space bar marks', async () => {
  const { shown, ...answers } = await answer([[down, enter], [down, ' ', down, ' ', enter], [' ', enter], ['n']])
  expect(answers).toMatchObject({ packageManager: 'pnpm', parts: new Set(['cron', 'graphql']), install: false })
  expect(answers.extras).toEqual(new Set(['container']))
  expect(shown).toContain('cron     scheduled jobs')
})

test('a question with a flag is not asked', async () => {
  const given = {
    name: 'mine',
    packageManager: 'deno',
    parts: new Set<Part>(['mqtt']),
    extras: new Set<Extra>(['agents']),
    install: false,
  } as const
  const { shown, ...answers } = await answer([], given)
  expect([shown, answers]).toEqual(['', { ...given, folder: join(folder, 'app'), git: false }])
})

test('a folder whose name is not a name of a package, or that has a project, is asked about', async () => {
  mkdirSync(join(folder, 'taken/src'), { recursive: true })
  writeFileSync(join(folder, 'taken/src/server.ts'), '')
  writeFileSync(join(folder, 'notes.txt'), '')
  const keys = [
    [join(folder, 'taken'), enter],
    [clear, join(folder, 'My App'), enter],
    ['No Name', enter],
    [clear, enter],
    [enter],
    [enter],
    [enter],
    [enter],
  ]
  const { shown, ...answers } = await answer(keys, { folder: undefined })
  expect(answers).toMatchObject({ folder: join(folder, 'My App'), name: 'my-app' })
  expect(shown).toContain('src/server.ts already exists.')
  expect(shown).toContain('it has upper-case letters')
})

test('a folder in which the framework was installed is taken as it is', async () => {
  writeFileSync(join(folder, 'package.json'), '{ "name": "shop" }')
  writeFileSync(join(folder, 'package-lock.json'), '{}')
  mkdirSync(join(folder, 'node_modules'))
  expect(await answer([[enter], [enter], [enter], [enter], [enter]], { folder: undefined })).toMatchObject({
    folder: '.',
    name: 'shop',
  })
})

test.each([
  ['Ctrl+C', '\u0003'],
  ['Escape', '\u001b'],
])('%s leaves', async (_name, key) => {
  await expect(answer([[enter], [key]])).rejects.toBeInstanceOf(Cancelled)
  expect(existsSync(join(folder, 'app'))).toBe(false)
})

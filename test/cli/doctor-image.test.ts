import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { imageChecks } from '../../cli/doctor/image.ts'
import type { ProjectView } from '../../cli/doctor/view.ts'
import type { DoctorFinding } from '../../plugins/shared/doctor/check.ts'
import { framework } from '../support/cli/fresh.ts'
import { makeProject, type Project } from '../support/cli.ts'

let app: Project
const before = process.cwd()
beforeAll(() => {
  app = makeProject({
    'package.json': '{ "name": "app", "type": "module" }',
    'public/index.html': '<h1>Shop</h1>',
    'src/index.ts': "import { server } from './server.ts'\nawait server.listen()\n",
    'src/server.ts': `import { LocalStorageProvider, Server } from 'framework'
const files = new LocalStorageProvider({ root: 'storage' })
export const server = new Server({
  plugins: { static: { root: 'public' }, storage: { providers: { files }, defaultProvider: 'files' } },
})
`,
  })
  mkdirSync(join(app.folder, 'storage'))
  process.chdir(app.folder)
})
afterAll(() => {
  process.chdir(before)
  app.remove()
})

/** What is wrong with a Dockerfile, for a folder that is served and one that is written. */
function problemsOf(lines: readonly string[], served = 'public', written = 'storage'): string[] {
  writeFileSync('Dockerfile', `${lines.join('\n')}\n`)
  const plugins = [
    { definition: { name: 'static' }, settings: [{ root: join(process.cwd(), served) }] },
    {
      definition: { name: 'storage' },
      settings: { providers: { files: { folder: join(process.cwd(), written) }, memory: {} } },
    },
  ]
  const view = { folder: process.cwd(), server: { listing: { plugins } } } as unknown as ProjectView
  const findings = imageChecks[0]!.find(view) as readonly DoctorFinding[]
  return findings.map(({ problem }) => problem.replace('the image of the Dockerfile ', ''))
}

const noPublic = 'does not have the folder public (the files of the plugin static)'
const noStorage = 'has no folder storage (the objects of the storage "files") that its user "node" may write'

describe('the last stage of a Dockerfile', () => {
  const first = [
    'FROM node AS build',
    'COPY . .',
    'RUN mkdir -p public storage && chown node storage',
    'FROM node',
    'WORKDIR /app',
  ]
  test.each<[string, string[], string[]]>([
    ['neither', ['COPY --from=build /app/dist ./dist', 'USER node'], [noPublic, noStorage]],
    ['a comment', ['# COPY public ./public', '# VOLUME storage', 'USER node'], [noPublic, noStorage]],
    [
      'another folder of a similar name',
      ['COPY publications ./', 'VOLUME /app/storage2', 'USER node'],
      [noPublic, noStorage],
    ],
    ['copied as root, which may not be written', ['COPY public storage ./', 'USER node'], [noStorage]],
    ['root', ['COPY public ./public'], []],
    ['root again', ['USER node', 'COPY public ./public', 'USER root'], []],
    ['both', ['COPY public ./public', 'RUN mkdir storage && chown node:node storage', 'USER node:node'], []],
    [
      'as lists, over several lines',
      ['COPY ["public", \\', '  "./public/"]', 'VOLUME ["/app/storage"]', 'USER node'],
      [],
    ],
    ['everything', ['COPY . .', 'VOLUME storage', 'USER node'], []],
    ['everything of a stage', ['COPY --from=build /app /app', 'RUN chown -R node /app/storage', 'USER node'], []],
    ['lower case', ['copy --from=build /app/public public', 'volume /app/storage', 'user node'], []],
  ])('%s', (_name, lines, problems) => {
    expect(problemsOf([...first, ...lines])).toEqual(problems)
  })

  test('folders below the sources and outside the project are not looked for', () => {
    for (const folder of ['src/public', 'dist/files', '../shared', '.']) {
      expect(problemsOf(['FROM node', 'USER node'], folder, folder)).toEqual([])
    }
  })

  test('a folder is copied with its parent', () => {
    expect(problemsOf(['FROM node', 'COPY web ./web'], 'web/public')).toEqual([])
  })
})

test.each([
  'npm',
  'bun',
  'deno',
])('a new Dockerfile for %s has the folders, and without them the doctor warns', async (pm) => {
  const init = await framework(app.folder, ['init', '.', '--container', '--force', '--pm', pm])
  expect(init.code, init.stderr).toBe(0)
  const text = readFileSync('Dockerfile', 'utf8')
  expect(problemsOf(text.split('\n'))).toEqual([])
  expect(readFileSync('compose.yaml', 'utf8')).toMatch(
    /volumes: \['storage:\/app\/storage'\][\s\S]*\nvolumes:\n {2}storage:\n/,
  )
  if (pm !== 'npm') return
  expect((await framework(app.folder, ['doctor', '--json'])).stdout).not.toContain('image.folder')
  writeFileSync('Dockerfile', text.replace(/^COPY.*(public|storage)$/gm, '').replace('VOLUME /app/storage', ''))
  const { findings } = JSON.parse((await framework(app.folder, ['doctor', '--json'])).stdout) as {
    findings: { code: string; problem: string }[]
  }
  const found = findings.filter(({ code }) => code === 'image.folder').map(({ problem }) => problem)
  expect(found.sort()).toEqual([
    expect.stringContaining('does not have the folder public (the files of the plugin static)'),
    expect.stringContaining('no folder storage (the objects of the storage "files") that its user "node" may write'),
  ])
})

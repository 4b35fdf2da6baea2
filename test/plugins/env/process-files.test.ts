import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEnvSchema, Server } from 'framework'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { loadEnvironment } from '../../../plugins/shared/environment/process.ts'
import { commandOf, targets } from '../../conformance/targets.ts'
import { makeProject, runIn } from '../../support/cli.ts'

let folder: string
let before: { folder: string; env: NodeJS.ProcessEnv }
beforeEach(() => {
  before = { folder: process.cwd(), env: { ...process.env } }
  folder = mkdtempSync(join(tmpdir(), 'framework-env-'))
  process.chdir(folder)
  vi.stubEnv('NODE_ENV', 'development')
  // As in a new process.
  const known = globalThis as { [key: symbol]: object | undefined }
  Object.assign(known[Symbol.for('framework.environment')]!, { isRead: false })
})
afterEach(() => {
  vi.unstubAllEnvs()
  process.chdir(before.folder)
  for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name]
  rmSync(folder, { recursive: true, force: true })
})
const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
const seen = (...names: string[]) => names.map((name) => process.env[name])

describe('the files of the environment', () => {
  test('are put into the environment of the process, which wins, even where it is empty', () => {
    write('.env', 'T_A=file\nT_B=file\nT_C=file\n')
    write('.env.development', 'T_A=mode\n')
    write('.env.production', 'T_C=production\n')
    vi.stubEnv('T_B', '')
    loadEnvironment()
    expect(seen('T_A', 'T_B', 'T_C')).toEqual(['mode', '', 'file'])
  })

  test('are those of development where NODE_ENV is not set', () => {
    vi.stubEnv('NODE_ENV', undefined)
    write('.env.development', 'T_A=development\n')
    loadEnvironment()
    expect(seen('T_A', 'NODE_ENV')).toEqual(['development', undefined])
  })

  test('are read before the first variable that the framework itself knows', () => {
    write('.env', 'PORT=4567\nHOST=127.0.0.9\nT_A=a\n')
    vi.stubEnv('PORT', undefined)
    vi.stubEnv('HOST', undefined)
    const { port, host } = new Server().settings
    expect([port, host, process.env.T_A]).toEqual([4567, '127.0.0.9', 'a'])
  })

  test('are not read for variables that the process has', () => {
    write('.env', '{"T_A"')
    vi.stubEnv('PORT', '4568')
    vi.stubEnv('HOST', '127.0.0.7')
    const { port, host } = new Server().settings
    expect([port, host]).toEqual([4568, '127.0.0.7'])
    vi.stubEnv('HOST', undefined)
    expect(() => new Server()).toThrow('the file .env is not a JSON object')
    expect(new Server({ host: '127.0.0.8' }).settings.host).toBe('127.0.0.8')
  })

  test('are those of the folder and the mode of the first reading, also for a schema', () => {
    write('.env', 'T_A=a\n')
    write('.env.test', 'T_A=test\n')
    loadEnvironment()
    vi.stubEnv('NODE_ENV', 'test')
    process.chdir(tmpdir())
    const env = createEnvSchema((schema) => ({ T_A: schema.string() }))
    expect([env.get('T_A'), process.env.T_A]).toEqual(['a', 'a'])
  })

  test('may have names that every object has', () => {
    write('.env', 'constructor=c\n')
    loadEnvironment()
    expect(process.env.constructor).toBe('c')
  })

  test('are read once, wherever the process goes and whatever NODE_ENV becomes', () => {
    write('.env', 'T_A=a\n')
    write('.env.production', 'T_A=production\n')
    loadEnvironment()
    vi.stubEnv('NODE_ENV', 'production')
    process.chdir(before.folder)
    new Server()
    expect(seen('T_A')).toEqual(['a'])
  })

  test('a server refuses files that cannot be read, and says why', () => {
    write('.env', '{"PORT"')
    expect(() => new Server()).toThrow('the file .env is not a JSON object: line 1, column 8')
  })

  test('NODE_ENV is not read from them, and is refused there unless the process has one', () => {
    write('.env', 'NODE_ENV=production\nT_A=a\n')
    loadEnvironment()
    expect(seen('NODE_ENV', 'T_A')).toEqual(['development', 'a'])
    vi.stubEnv('NODE_ENV', undefined)
    expect(() => createEnvSchema()).toThrow(
      'NODE_ENV (of .env) cannot be set in a file: set it where the process starts',
    )
  })

  test('in JSON, lists and objects are JSON there, and lists and objects for a schema', () => {
    write('.env', '{"T_N":5,"T_L":["a"],"T_O":{"a":1},"T_NULL":null}')
    const env = createEnvSchema((s) => ({ T_N: s.number(), T_L: s.array(s.string()) }))
    expect(seen('T_N', 'T_L', 'T_O', 'T_NULL')).toEqual(['5', '["a"]', '{"a":1}', undefined])
    expect([env.get('T_N'), env.get('T_L'), env.get('T_O' as string)]).toEqual([5, ['a'], { a: 1 }])
  })

  test('a schema names the file that a variable of the process comes from', () => {
    write('.env', 'T_PORT=x\nT_REAL=x\n')
    vi.stubEnv('T_REAL', 'y')
    loadEnvironment()
    const problems = ['T_PORT (of .env) is not valid; it takes a number', 'T_REAL is not valid; it takes a number']
    const read = () => createEnvSchema((s) => ({ T_PORT: s.number(), T_REAL: s.number() }))
    expect(read).toThrow(expect.objectContaining({ problems }))
  })

  test('a schema that reads them again has the changes, and so has the process', () => {
    write('.env', 'T_A=1\nT_B=1\n')
    createEnvSchema()
    process.env.T_B = 'own'
    write('.env', 'T_B=2\nT_C=2\n')
    const env = createEnvSchema()
    expect(seen('T_A', 'T_B', 'T_C')).toEqual([undefined, 'own', '2'])
    expect(env.get('T_B')).toBe('own')
  })

  test('a file of another name is that of its schema alone, and overrides variables of the process from other files', () => {
    write('.env', 'T_A=usual\nT_B=usual\n')
    write('app.env', 'T_A=app\nT_C=app\n')
    loadEnvironment()
    const env = createEnvSchema(undefined, { file: 'app.env' })
    expect([env.get('T_A'), env.get('T_B'), env.get('T_C')]).toEqual(['app', 'usual', 'app'])
    expect(seen('T_A', 'T_C')).toEqual(['usual', undefined])
  })
})

test.each(['node', 'bun', 'deno'])('a program finds the same in them on %s, from its first module on', async (name) => {
  const project = makeProject({
    'package.json': '{ "type": "module", "dependencies": { "framework": "*" } }',
    'bunfig.toml': 'env = false\n',
    '.env': 'PORT=4011\nT_PASSWORD=a$PORT\nT_REAL=file\n',
    '.env.development': 'T_MODE=development\n',
    'one.js': `import { Server } from 'framework'
console.log(JSON.stringify([new Server().settings.port, process.env.T_PASSWORD, process.env.T_MODE]))`,
    'first.js': `import 'framework/env'
import './second.js'`,
    'second.js': `console.log(JSON.stringify(['PORT', 'T_PASSWORD', 'T_MODE', 'T_REAL'].map((name) => process.env[name])))`,
  })
  const [command] = commandOf(targets.find((target) => target.name === name)!)
  const flags = { node: [], bun: ['run'], deno: ['run', '-A', '--no-check', '--node-modules-dir=manual'] }[name]!
  const env = { NODE_ENV: undefined, PORT: undefined, T_REAL: 'process' }
  const run = async (file: string) => {
    const { stdout, stderr } = await runIn(project.folder, [command!, ...flags, file], env)
    return stderr === '' ? (JSON.parse(stdout) as unknown) : stderr
  }
  try {
    expect(await run('one.js')).toEqual([4011, 'a$PORT', 'development'])
    expect(await run('first.js')).toEqual(['4011', 'a$PORT', 'development', 'process'])
  } finally {
    project.remove()
  }
})

test('on Deno a missing permission is reported where the files are requested, and none is requested where they are not', async () => {
  const project = makeProject({
    'package.json': '{ "type": "module", "dependencies": { "framework": "*" } }',
    '.env': 'PORT=4011\n',
    'one.js': `import { Server } from 'framework'\nconsole.log(new Server().settings.port)`,
    'first.js': `import 'framework/env'`,
  })
  const [command] = commandOf(targets.find((target) => target.name === 'deno')!)
  const flags = ['run', '--no-check', '--node-modules-dir=manual', '--no-prompt', '--allow-env', '--allow-sys']
  const run = (file: string) =>
    runIn(project.folder, [command!, ...flags, file], { NODE_ENV: undefined, PORT: undefined, NO_COLOR: '1' })
  try {
    expect((await run('first.js')).stderr).toContain('the file .env may not be read: run Deno with --allow-read=.env')
    const { stdout, stderr } = await run('one.js')
    expect([stdout, stderr]).toEqual(['3000\n', ''])
  } finally {
    project.remove()
  }
})

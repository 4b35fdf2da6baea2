import { execFileSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'dotenv'
import { createEnvSchema } from 'framework'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { envFile, namesIn, withEntries } from '../../cli/keys/env-file.ts'
import { ignoring } from '../../cli/scaffold/ignore.ts'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { runIn } from '../support/cli.ts'

let runner: Runner
let folder: string
beforeAll(() => {
  vi.stubEnv('KEY_PASSPHRASE', 'correct horse')
  runner = startRunner()
})
afterAll(() => {
  runner.close()
  vi.unstubAllEnvs()
})
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'framework-keys-')))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Ed25519 unless another type is named: RSA takes a second. */
async function generate(...argv: string[]) {
  const type = argv.some((word) => /^(-t|--type|--bits)/.test(word)) ? [] : ['-t', 'ed25519']
  const ended = await runner.run(folder, ['key-generate', ...type, ...argv], { DEBUG: '1' })
  expect(ended.stdout + ended.stderr).not.toMatch(/PRIVATE KEY--|correct horse|[\w-]{43}/)
  return ended
}
const read = (file: string) => readFileSync(join(folder, file), 'utf8')
const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
const modeOf = (file: string) => (statSync(join(folder, file)).mode & 0o777).toString(8)

function isPair(privateKey: string, publicKey: string, passphrase?: string): boolean {
  const data = Buffer.from('data')
  const key = createPrivateKey(passphrase === undefined ? privateKey : { key: privateKey, passphrase })
  const hash = key.asymmetricKeyType === 'rsa' ? 'sha256' : null
  return verify(hash, data, createPublicKey(publicKey), sign(hash, data, key))
}

describe('files', () => {
  test('are a pair for its owner and for everyone, whatever the umask', async () => {
    const umask = process.umask(0)
    const fresh = startRunner()
    process.umask(0o077)
    const strict = startRunner()
    process.umask(umask)
    try {
      for (const [name, one] of [
        ['lax', fresh],
        ['strict', strict],
      ] as const) {
        const { code, stdout } = await one.run(folder, ['key-generate', '-t', 'ed25519', '--name', name])
        expect([code, stdout]).toEqual([0, `created  keys/${name}-private.pem\ncreated  keys/${name}-public.pem\n`])
        const modes = ['keys', `keys/${name}-private.pem`, `keys/${name}-public.pem`].map(modeOf)
        expect(modes).toEqual(['755', '600', '644'])
        expect(isPair(read(`keys/${name}-private.pem`), read(`keys/${name}-public.pem`))).toBe(true)
      }
    } finally {
      fresh.close()
      strict.close()
    }
  })

  test('are RSA with 3072 bits unless something else is asked for', async () => {
    expect((await generate('--type', 'rsa')).code).toBe(0)
    expect((await generate('--bits', '2048', '--name', 'small')).code).toBe(0)
    const bits = (name: string) => createPublicKey(read(`keys/${name}-public.pem`)).asymmetricKeyDetails?.modulusLength
    expect([bits('app'), bits('small')]).toEqual([3072, 2048])
    expect(isPair(read('keys/app-private.pem'), read('keys/app-public.pem'))).toBe(true)
  })

  test('may be a secret of 256 bits', async () => {
    expect((await generate('-t', 'secret', '--name', 'sessionCookie')).code).toBe(0)
    expect(Buffer.from(read('keys/session-cookie-secret'), 'base64url')).toHaveLength(32)
    expect(modeOf('keys/session-cookie-secret')).toBe('600')
  })

  test('may be encrypted with a passphrase, which comes from the environment', async () => {
    expect((await generate('--passphrase-env', 'KEY_PASSPHRASE')).code).toBe(0)
    const [privateKey, publicKey] = [read('keys/app-private.pem'), read('keys/app-public.pem')]
    expect(privateKey).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----/)
    expect(isPair(privateKey, publicKey, 'correct horse')).toBe(true)
    expect(() => createPrivateKey({ key: privateKey, passphrase: 'wrong' })).toThrow()
  })

  test('that exist stay, both of them, unless --force says otherwise', async () => {
    await generate()
    const before = [read('keys/app-private.pem'), read('keys/app-public.pem')]
    const again = await generate()
    expect([again.code, again.stdout]).toEqual([1, ''])
    expect(again.stderr).toContain('keys/app-private.pem, keys/app-public.pem already exist: nothing was written')
    rmSync(join(folder, 'keys/app-private.pem'))
    expect((await generate()).code).toBe(1)
    expect([readdirSync(join(folder, 'keys')), read('keys/app-public.pem')]).toEqual([['app-public.pem'], before[1]])
    writeFileSync(join(folder, 'keys/app-private.pem'), 'public!', { mode: 0o644 })
    expect((await generate('--force')).code).toBe(0)
    expect(modeOf('keys/app-private.pem')).toBe('600')
    expect(isPair(read('keys/app-private.pem'), read('keys/app-public.pem'))).toBe(true)
    expect(readdirSync(join(folder, 'keys'))).toEqual(['app-private.pem', 'app-public.pem'])
  })

  test('go nowhere by a link, and not where nothing can be written', async () => {
    mkdirSync(join(folder, 'elsewhere'))
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'linked'))
    mkdirSync(join(folder, 'project/keys'), { recursive: true })
    symlinkSync(join(folder, 'elsewhere/stolen'), join(folder, 'project/keys/app-private.pem'))
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'project/out'))
    write('file', '')
    const run = (...argv: string[]) => runner.run(join(folder, 'project'), ['key-generate', '-t', 'ed25519', ...argv])
    for (const [argv, reports] of [
      [['--force'], 'keys/app-private.pem exists and is not a file: nothing was written\n'],
      [['--out', 'out'], /^out\/app-private\.pem is outside .*: nothing was written\n$/],
      [['--out', '../file'], /^\.\.\/file is a file, not a folder: nothing was written\n$/],
      [['--out', '/proc/no-keys'], /^nothing was written: E.*\n$/],
      [
        ['--env', '--out', 'keys/app-private.pem'],
        /^keys\/app-private\.pem is a link to .*elsewhere\/stolen: pass the file itself with --out; nothing was written\n$/,
      ],
    ] as const) {
      const { code, stderr } = await run(...argv)
      expect([argv, code, stderr]).toEqual([
        argv,
        1,
        typeof reports === 'string' ? reports : expect.stringMatching(reports),
      ])
    }
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([])
  })

  test('--dry-run and --json name them, and nothing else', async () => {
    const { code, stdout } = await generate('--dry-run', '--json')
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        type: 'ed25519',
        folder,
        dryRun: true,
        files: [
          { path: 'keys/app-private.pem', action: 'created' },
          { path: 'keys/app-public.pem', action: 'created' },
        ],
      },
    ])
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('variables', () => {
  test('are read by createEnvSchema, dotenv and Node.js, and accepted by node:crypto', async () => {
    await generate('--env', '--bits', '2048')
    await generate('--env', '-t', 'secret')
    expect(modeOf('.env')).toBe('600')
    const env = createEnvSchema(
      (schema) => ({ APP_PRIVATE_KEY: schema.string(), APP_PUBLIC_KEY: schema.string(), APP_SECRET: schema.string() }),
      { file: join(folder, '.env'), environment: {} },
    )
    const seen = [env.get('APP_PRIVATE_KEY'), env.get('APP_PUBLIC_KEY'), env.get('APP_SECRET')] as const
    expect(isPair(seen[0], seen[1])).toBe(true)
    expect(Buffer.from(seen[2], 'base64url')).toHaveLength(32)
    const names = ['APP_PRIVATE_KEY', 'APP_PUBLIC_KEY', 'APP_SECRET']
    const plain = parse(read('.env'))
    expect(names.map((name) => plain[name])).toEqual(seen)
    const script = `console.log(JSON.stringify(${JSON.stringify(names)}.map((name) => process.env[name])))`
    const { stdout } = await runIn(folder, [process.execPath, '--env-file=.env', '-e', script])
    expect(JSON.parse(stdout)).toEqual(seen)
  })

  test('are declared in the files of the project: its schema, its example, and its tests with values of their own', async () => {
    write('package.json', '{}')
    mkdirSync(join(folder, 'src'))
    const module =
      "import { createEnvSchema } from 'framework'\n\nexport const env = createEnvSchema((schema) => ({\n}))\n"
    write('src/env.ts', module)
    write('.env.example', 'PORT=3000\n')
    write('.env.test', 'LOG_LEVEL=silent\n')
    const names = ['src/env.ts', '.env.example', '.env.test']
    const before = names.map(read)
    await generate('--env', '-t', 'secret', '--out', 'other.env')
    await generate('--env', '-t', 'secret', '--dry-run')
    expect(names.map(read)).toEqual(before)

    const { stdout } = await generate('--env', '-t', 'secret')
    expect(stdout).toBe('created  .env\nupdated  src/env.ts\nupdated  .env.example\nupdated  .env.test\n')
    expect(names.map(read)).toEqual([
      module.replace('\n}))', '\n  APP_SECRET: schema.string({ secret: true }),\n}))'),
      'PORT=3000\nAPP_SECRET=\n',
      'LOG_LEVEL=silent\nAPP_SECRET=a secret that only tests know\n',
    ])
    await generate('--env', '--passphrase-env', 'KEY_PASSPHRASE')
    expect(read('src/env.ts')).toContain(
      'APP_PRIVATE_KEY: schema.string({ secret: true }),\n  APP_PUBLIC_KEY: schema.string(),\n',
    )
    expect(read('.env.example')).toBe('PORT=3000\nAPP_SECRET=\nAPP_PRIVATE_KEY=\nAPP_PUBLIC_KEY=\n')
    const [own, ofTests] = ['.env', '.env.test'].map((file) => parse(read(file)))
    expect(isPair(ofTests!.APP_PRIVATE_KEY!, ofTests!.APP_PUBLIC_KEY!)).toBe(true)
    expect(ofTests!.APP_PUBLIC_KEY).not.toBe(own!.APP_PUBLIC_KEY)
    const after = names.map(read)
    await generate('--env', '-t', 'secret', '--force')
    expect(names.map(read)).toEqual(after)
  })

  test('that exist stay, and everything else stays byte for byte, with --force too', async () => {
    const others =
      "\uFEFFA=1\r\n# APP_SECRET=x\r\n\r\nexport B = \"two # 2\"  # it's\r\nC='APP_SECRET=no\r\n' \r\nempty="
    write('.env', others)
    chmodSync(join(folder, '.env'), 0o640)
    const first = await generate('--env', '--name', 'web-push')
    expect([first.code, modeOf('.env')]).toEqual([0, '600'])
    expect(first.stderr).toContain('Others can read .env or write to it (mode 640): the command sets its mode to 600')
    const text = read('.env')
    expect(text.startsWith(`${others}\r\nWEB_PUSH_PRIVATE_KEY="-----BEGIN`)).toBe(true)
    const again = await generate('--env', '--name', 'web_push')
    expect([again.code, read('.env')]).toEqual([1, text])
    expect(again.stderr).toContain('.env has WEB_PUSH_PRIVATE_KEY and WEB_PUSH_PUBLIC_KEY already: nothing was written')
    expect((await generate('--env', '--name', 'WebPush', '--force')).code).toBe(0)
    const forced = read('.env')
    const shape = (one: string) => one.replaceAll(/"-----BEGIN.*?"/g, 'PEM')
    expect([shape(forced), forced === text]).toEqual([shape(text), false])
    expect((await generate('--env', '-t', 'secret')).code).toBe(0)
    expect(read('.env').startsWith(forced)).toBe(true)
  })

  test('take the place of empty ones, and of each of several', () => {
    const values = { A_SECRET: 'new' }
    for (const [before, after] of [
      ['', 'A_SECRET=new\n'],
      ['A_SECRET=', 'A_SECRET=new'],
      ['export A_SECRET = # why\nB=1', 'export A_SECRET =new # why\nB=1'],
      ['A_SECRET=old # why', 'A_SECRET=new # why'],
      ['A_SECRET="o\\"l#d" # why\n', 'A_SECRET=new # why\n'],
      ["A_SECRET='o\nl\nd'\nB=2", 'A_SECRET=new\nB=2'],
      ['A_SECRET=1\nA_SECRET=2\n', 'A_SECRET=new\nA_SECRET=new\n'],
      ['MY_A_SECRET=1\nA_SECRET_2=1', 'MY_A_SECRET=1\nA_SECRET_2=1\nA_SECRET=new\n'],
      ['#A_SECRET=1\n', '#A_SECRET=1\nA_SECRET=new\n'],
      ['B="\nA_SECRET=1\n"\n', 'B="\nA_SECRET=1\n"\nA_SECRET=new\n'],
      ['\uFEFFA_SECRET=1', '\uFEFFA_SECRET=new'],
      ['\uFEFF', '\uFEFFA_SECRET=new\n'],
      ['A_SECRET: old\n', 'A_SECRET: new\n'],
    ] as const) {
      expect([before, withEntries(before, values)]).toEqual([before, after])
      expect([before, parse(after.replace('\uFEFF', '')).A_SECRET]).toEqual([before, 'new'])
    }
    expect(namesIn('A=\nB=""\nC=1\n#D=1\n', ['A', 'B', 'C', 'D', '__proto__'])).toEqual(['C'])
  })

  test('are not written into a file of another form', async () => {
    const latin = Buffer.from([0x41, 0x3d, 0xe4])
    for (const [content, reports] of [
      [latin, '.env is not UTF-8 text: nothing was written'],
      ['{ "A": 1 }', '.env is JSON, but --env writes the dotenv format'],
      ['A'.repeat(100_001), '.env has more than 100 kB: nothing was written'],
    ] as const) {
      writeFileSync(join(folder, '.env'), content)
      const { code, stderr } = await runner.run(folder, ['key-generate', '-t', 'secret', '--env'])
      expect([code, stderr]).toEqual([1, `${reports}\n`])
      expect(readFileSync(join(folder, '.env'))).toEqual(Buffer.from(content))
    }
  })

  test('go into a file for its owner only, which others could read', async () => {
    for (const [mode, reports] of [
      [0o644, 'mode 644'],
      [0o660, 'mode 660'],
      [0o602, 'mode 602'],
    ] as const) {
      write('.env', 'A=1\n')
      chmodSync(join(folder, '.env'), mode)
      const dry = await generate('--env', '-t', 'secret', '--dry-run')
      expect([dry.stderr.includes(reports), statSync(join(folder, '.env')).mode & 0o777]).toEqual([true, mode])
      const { code, stderr } = await generate('--env', '-t', 'secret')
      expect([
        code,
        stderr.includes(`Others can read .env or write to it (${reports}): the command sets its mode to 600`),
      ]).toEqual([0, true])
      expect([modeOf('.env'), read('.env')]).toEqual(['600', expect.stringMatching(/^A=1\nAPP_SECRET=\S{43}\n$/)])
      const { stderr: quiet } = await generate('--env', '-t', 'secret', '--force')
      expect(quiet).not.toContain('Others can read')
    }
  })

  test.each([
    ['a link', '.env is a link to shared: pass the file itself with --out; nothing was written\n'],
    ['a folder', '.env is a folder: pass a file with --out; nothing was written\n'],
    ['read-only', '.env is read-only: chmod u+w .env, or pass another file with --out; nothing was written\n'],
    ['a pipe', '.env is not a regular file: pass one with --out; nothing was written\n'],
  ])('are not written into what is %s', async (kind, reports) => {
    const file = join(folder, '.env')
    write('shared', 'A=1\n')
    if (kind === 'a link') symlinkSync('shared', file)
    else if (kind === 'a folder') mkdirSync(file)
    else if (kind === 'a pipe') execFileSync('mkfifo', [file])
    else writeFileSync(file, 'A=1\n', { mode: 0o400 })
    const ended = await runner.run(folder, ['key-generate', '--env', '-t', 'secret', '--force'])
    expect(ended).toEqual({ code: 1, stdout: '', stderr: reports })
    expect([read('shared'), readdirSync(folder).sort()]).toEqual(['A=1\n', ['.env', 'shared']])
  })

  test('of another user stay, unless root writes them, and then keep their owner', async () => {
    write('.env', 'A=1\n')
    const { uid } = statSync(join(folder, '.env'))
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1)
    try {
      const change = () => envFile(join(folder, '.env'), '.env', { B: '1' }, true)
      expect(change).toThrow(
        `.env belongs to another user (uid ${uid}): run this as that user, or pass another file with --out; nothing was written`,
      )
      getuid.mockReturnValue(0)
      expect(change().file.text).toBe('A=1\nB=1\n')
    } finally {
      getuid.mockRestore()
    }
  })
})

describe('.gitignore', () => {
  const git = (...argv: string[]) =>
    runIn(folder, ['git', '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...argv])
  /** What git would publish if everything were added now. */
  const published = async () => {
    await git('add', '--all')
    return (await git('ls-files')).stdout.trim().split('\n')
  }

  test('outside of a repository is left to the user, and the line for it is printed', async () => {
    const { code, stderr } = await generate()
    expect([code, stderr]).toEqual([
      0,
      `${folder} is not in a git repository: before you create one, add the line keys/ to its .gitignore\n`,
    ])
    expect((await generate('--env', '-t', 'secret')).stderr).toContain('add the line .env to its .gitignore\n')
    expect(readdirSync(folder).sort()).toEqual(['.env', 'keys'])
  })

  test('is made in a repository that has none, in the folder of the project', async () => {
    await git('init', '--quiet')
    mkdirSync(join(folder, 'api/src'), { recursive: true })
    write('api/package.json', '{}')
    const ended = await runner.run(join(folder, 'api/src'), ['key-generate', '-t', 'secret'])
    expect([ended.code, ended.stdout]).toEqual([0, 'created  keys/app-secret\ncreated  .gitignore\n'])
    expect(read('api/.gitignore')).toBe('keys/\n')
    expect((await generate('-t', 'secret', '--env')).stdout).toBe('created  .env\ncreated  .gitignore\n')
    expect((await generate('-t', 'secret', '--out', '#[my] keys*')).code).toBe(0)
    expect(await published()).toEqual(['.gitignore', 'api/.gitignore', 'api/package.json'])
  })

  test('is made without git, too, where there is a repository', async () => {
    await git('init', '--quiet')
    const { stdout, stderr } = await runner.run(folder, ['key-generate', '-t', 'secret'], { PATH: folder })
    expect([stdout, stderr]).toEqual(['created  keys/app-secret\ncreated  .gitignore\n', ''])
    expect(await published()).toEqual(['.gitignore'])
  })

  test('that has no effect is reported, with the remedy', async () => {
    await git('init', '--quiet')
    write('.env', 'A=1\n')
    await published()
    const tracked = await generate('--env', '-t', 'secret')
    expect(tracked.stderr).toContain(
      'Warning: git already tracks .env, so .gitignore has no effect on it: git rm --cached .env\n',
    )
    mkdirSync(join(folder, 'api'))
    write('api/.gitignore', '!.env\n')
    const back = await generate('--env', '-t', 'secret', '--out', 'api/.env')
    const line = `add the line .env to the end of ${folder}/api/.gitignore\n`
    expect(back.stderr).toContain(`Warning: git does not ignore api/.env: ${line}`)
    rmSync(join(folder, '.gitignore'))
    symlinkSync('api/.gitignore', join(folder, '.gitignore'))
    const linked = await generate('-t', 'secret')
    expect([linked.code, linked.stderr]).toEqual([
      0,
      `Warning: ${folder}/.gitignore is not a regular file, so git does not ignore keys/: make it a regular file with the line keys/\n`,
    ])
    expect(read('api/.gitignore')).toBe('!.env\n')
  })

  test('of another repository is not changed: the missing line is printed', async () => {
    mkdirSync(join(folder, 'here'))
    mkdirSync(join(folder, 'other'))
    for (const name of ['here', 'other']) await git('init', '--quiet', name)
    const run = () =>
      runner.run(join(folder, 'here'), ['key-generate', '-t', 'secret', '--force', '--out', '../other/keys'])
    expect((await run()).stderr).toBe(
      `In ${folder}/other/keys\nWarning: git does not ignore app-secret: add the line app-secret to the end of ${folder}/other/keys/.gitignore\n`,
    )
    expect([existsSync(join(folder, 'other/.gitignore')), existsSync(join(folder, 'here/.gitignore'))]).toEqual([
      false,
      false,
    ])
    write('other/.gitignore', 'keys\n')
    expect((await run()).stderr).toBe(`In ${folder}/other/keys\n`)
  })

  test('receives its missing lines, where there is one', async () => {
    write('.gitignore', 'dist')
    const { stdout } = await generate()
    expect(stdout).toMatch(/^updated {2}\.gitignore$/m)
    expect(read('.gitignore')).toBe('dist\nkeys/\n')
    expect((await generate('--env')).code).toBe(0)
    expect((await generate('--name', 'more')).stdout).not.toContain('.gitignore')
    expect(read('.gitignore')).toBe('dist\nkeys/\n.env\n')
  })

  test('is asked by git itself in a repository', async () => {
    await runIn(folder, ['git', 'init', '--quiet'])
    write('.gitignore', '*.pem\n.env*\n')
    mkdirSync(join(folder, 'api'))
    const { code } = await runner.run(join(folder, 'api'), ['key-generate', '-t', 'secret', '--env'])
    expect([code, read('.gitignore')]).toEqual([0, '*.pem\n.env*\n'])
    await runner.run(join(folder, 'api'), ['key-generate', '-t', 'secret'])
    expect(read('.gitignore')).toBe('*.pem\n.env*\napi/keys/\n')
  })

  test('knows the spellings of an entry', () => {
    for (const line of [
      'keys',
      'keys/',
      '/keys',
      '/keys/',
      '**/keys/',
      'keys/**',
      'keys/*',
      'keys/  ',
      'a\r\nkeys/\r\n',
    ])
      expect([line, ignoring(line, ['keys/'])]).toEqual([line, line])
    for (const line of ['# keys/', 'keys2/', 'keys/\n!keys/', 'my/keys'])
      expect([line, ignoring(line, ['keys/'])]).toEqual([line, `${line}\nkeys/\n`])
  })
})

test.each([
  [['--type', 'dsa'], 2, '--type takes rsa, ed25519 or secret, not "dsa"; did you mean rsa?'],
  [['--bits', '1024'], 2, '--bits takes 2048 to 8192, not 1024'],
  [['--bits', '2048.5'], 2, '--bits takes 2048 to 8192, not 2048.5'],
  [['-t', 'secret', '--bits', '4096'], 2, '--bits is for RSA; the size of secret is fixed'],
  [['--name', '../x'], 2, '--name takes up to 64 letters, digits, - and _, a letter first, not "../x"'],
  [['--name', 'schlüssel'], 2, /not "schlüssel"$/],
  [['--name', '__proto__'], 2, /not "__proto__"$/],
  [['--out', ' '], 2, '--out needs a folder'],
  [
    ['--passphrase-env', 'NOT_SET_ANYWHERE'],
    1,
    'the variable "NOT_SET_ANYWHERE" of --passphrase-env is not set or is empty',
  ],
  [
    ['-t', 'secret', '--passphrase-env', 'KEY_PASSPHRASE'],
    2,
    '--passphrase-env is for private keys; a secret is not encrypted',
  ],
  [['keys'], 2, '"keys" is one argument too many'],
  [['--forc'], 2, 'there is no --forc; did you mean --force?'],
])('%j cannot be meant', async (argv, code, reports) => {
  const type = argv.some((word) => /^(-t|--type|--bits)/.test(word)) ? [] : ['-t', 'ed25519']
  const ended = await runner.run(folder, ['key-generate', ...type, ...argv])
  expect([ended.code, ended.stdout]).toEqual([code, ''])
  expect(ended.stderr.trimEnd()).toEqual(
    typeof reports === 'string' ? `key-generate: ${reports}` : expect.stringMatching(reports),
  )
  expect(readdirSync(folder)).toEqual([])
})

import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LocalStorageProvider, Storage } from 'framework'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../support/queues.ts'
import { badKeys, keysOf } from '../../support/storage.ts'
import { withTypeScript } from '../../support/typescript-process.ts'

let folder: string
let root: string
let storage: Storage<'disk'>
const open = () => new Storage({ disk: new LocalStorageProvider({ root }) })

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'framework-disk-'))
  root = join(folder, 'root')
  storage = open()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const openFiles = () => readdirSync('/proc/self/fd').length

const refused = { code: 'StorageKeyError', status: 400 }
const allOperations = (key: string) => [
  () => storage.putObject(key, 'x'),
  () => storage.getObject(key),
  () => storage.getObject(key, 'stream'),
  () => storage.metadata(key),
  () => storage.exists(key),
  () => storage.copy('there', key),
  () => storage.copy(key, 'elsewhere'),
  () => storage.move('there', key),
]

describe('keys do not leave the root', () => {
  test.each([
    ...badKeys.map(([, key]) => key as string),
    '../outside.txt',
    'a/../../outside.txt',
    'x'.repeat(300),
    `a/${'ü'.repeat(128)}`,
    'CON',
    'con.txt',
    'a/NUL',
    'Lpt1.x/a',
    '.storage/tmp/x',
    '.STORAGE/x',
  ])('%j', async (key) => {
    await storage.putObject('there', 'x')
    writeFileSync(join(folder, 'outside.txt'), 'secret')
    const before = readdirSync(folder)
    for (const operation of allOperations(key)) await expect(operation()).rejects.toMatchObject(refused)
    await expect(storage.deleteObject(key)).rejects.toMatchObject(refused)
    expect(readdirSync(folder)).toEqual(before)
    expect(readFileSync(join(folder, 'outside.txt'), 'utf8')).toBe('secret')
    expect(await keysOf(storage)).toEqual(['there'])
  })

  test('nor by symbolic links: to a file, to a folder, on the way, dangling, even to a target inside', async () => {
    const outside = join(folder, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'secret.txt'), 'secret')
    await storage.putObject('there', 'x')
    await storage.putObject('inside/a', 'x')
    symlinkSync(join(outside, 'secret.txt'), join(root, 'file'))
    symlinkSync(outside, join(root, 'folder'))
    symlinkSync(join(outside, 'new.txt'), join(root, 'dangling'))
    symlinkSync(join(root, 'inside'), join(root, 'within'))

    for (const key of ['folder/secret.txt', 'folder/new/deep.txt', 'within/a']) {
      const operations = allOperations(key)
      for (const operation of key.includes('new') ? operations.slice(0, 1) : operations) {
        await expect(operation()).rejects.toMatchObject(refused)
      }
    }
    for (const key of ['file', 'dangling']) {
      await expect(storage.getObject(key)).rejects.toMatchObject(refused)
      await expect(storage.copy(key, 'copied')).rejects.toMatchObject(refused)
      // Replaces and removes the link, not its target.
      await storage.putObject(key, 'own')
      expect(await storage.getObject(key, 'text')).toBe('own')
    }
    await expect(storage.deleteObject('folder/secret.txt')).rejects.toMatchObject(refused)
    expect(readdirSync(outside)).toEqual(['secret.txt'])
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret')
    expect(await keysOf(storage)).toEqual(['dangling', 'file', 'inside/a', 'there'])
    expect(await keysOf(storage, 'folder/')).toEqual([])
    expect(await keysOf(storage, 'within/')).toEqual([])
  })

  test('an object may have the name that the system gives to a file that was removed', async () => {
    await storage.putObject('a (deleted)', 'there')
    await storage.putObject('a', 'other')
    expect(await storage.getObject('a (deleted)', 'text')).toBe('there')
    await storage.deleteObject('a')
    await expect(storage.getObject('a')).rejects.toMatchObject({ code: 'FileNotFoundError' })
  })

  test('nor while a folder is swapped for a link', async () => {
    const outside = join(folder, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'a'), 'secret')
    const swap = `
      import { renameSync, symlinkSync, unlinkSync } from 'node:fs'
      const [, root, outside] = process.argv
      process.chdir(root)
      console.log('ready')
      for (;;) {
        renameSync('sub', '.sub')
        symlinkSync(outside, 'sub')
        unlinkSync('sub')
        renameSync('.sub', 'sub')
      }`
    await storage.putObject('sub/a', 'mine')
    const child = spawn(process.execPath, ['--input-type=module', '-e', swap, root, outside])
    try {
      await new Promise((resolve) => child.stdout.once('data', resolve))
      let own = 0
      // Until the folder was there at least once, however the two processes are scheduled.
      const end = Date.now() + 30_000
      for (let i = 0; i < 300 || (own === 0 && Date.now() < end); i++) {
        const text = await storage.getObject('sub/a', 'text').catch((error) => error.code)
        expect(['mine', 'FileNotFoundError', 'StorageKeyError', 'StorageRefusedError']).toContain(text)
        if (text === 'mine') own++
      }
      expect(own).toBeGreaterThan(0)
    } finally {
      child.kill('SIGKILL')
    }
    expect(readFileSync(join(outside, 'a'), 'utf8')).toBe('secret')
  })
})

describe('on the disk', () => {
  test('an object is a file with that content, and nothing is left beside it', async () => {
    await storage.putObject('reports/2026/a.json', '{}')
    await storage.putObject('reports/b.bin', new Uint8Array(3), 'text/x-own')
    expect(readFileSync(join(root, 'reports/2026/a.json'), 'utf8')).toBe('{}')
    expect(readdirSync(join(root, '.storage/tmp'))).toEqual([])
    expect(readdirSync(join(root, '.storage/types'))).toHaveLength(1)
    expect((await open().metadata('reports/b.bin')).contentType).toBe('text/x-own')
  })

  test('folders that an object leaves empty are removed, the root and others are not', async () => {
    await storage.putObject('a/b/c', 'x')
    await storage.putObject('a/d', 'x')
    await storage.deleteObject('a/b/c')
    expect(readdirSync(join(root, 'a'))).toEqual(['d'])
    await storage.move('a/d', 'e')
    expect(existsSync(join(root, 'a'))).toBe(false)
    await storage.deleteObject('e')
    expect(existsSync(root)).toBe(true)
  })

  test('a name is a file or a folder', async () => {
    await storage.putObject('a', 'x')
    await expect(storage.putObject('a/b', 'x')).rejects.toMatchObject(refused)
    await storage.putObject('c/d', 'x')
    await expect(storage.putObject('c', 'x')).rejects.toMatchObject(refused)
    await expect(storage.getObject('c')).rejects.toMatchObject({ code: 'FileNotFoundError' })
    await expect(storage.getObject('a/b')).rejects.toMatchObject({ code: 'FileNotFoundError' })
    await storage.deleteObject('c')
    expect(await keysOf(storage)).toEqual(['a', 'c/d'])
    expect(readdirSync(join(root, '.storage/tmp'))).toEqual([])
  })

  test('puts and deletes in the same folder do not get in each other’s way', async () => {
    const work = async (name: string) => {
      for (let i = 0; i < 50; i++) {
        await storage.putObject(`shared/folder/${name}`, name)
        await storage.deleteObject(`shared/folder/${name}`)
      }
    }
    await Promise.all(['a', 'b', 'c'].map(work))
    expect(await keysOf(storage)).toEqual([])
  })

  test('many writers of one key: the content and the type are of the same one', async () => {
    const types = ['text/a', 'text/b', 'text/c', 'text/d']
    await Promise.all(
      types.flatMap((type) => Array.from({ length: 10 }, () => open().putObject('hot', type.repeat(2), type))),
    )
    const { contentType } = await storage.metadata('hot')
    expect(await storage.getObject('hot', 'text')).toBe(contentType.repeat(2))
  })

  test('150 streams that are given up leave no file open', async () => {
    await storage.putObject('a', new Uint8Array(1_000_000))
    const before = openFiles()
    for (let i = 0; i < 150; i++) {
      const stream = await storage.getObject('a', 'stream')
      if (i % 2 === 0) for await (const _chunk of stream) break
      else stream.destroy()
    }
    await until(() => openFiles() <= before + 2, 'the files closed')
  })

  test('the root may be a URL', async () => {
    const other = new Storage({ disk: new LocalStorageProvider({ root: pathToFileURL(join(folder, 'ü b')) }) })
    await other.putObject('a', 'x')
    expect(readFileSync(join(folder, 'ü b/a'), 'utf8')).toBe('x')
  })

  test('refusals of a disk have a name', async () => {
    writeFileSync(join(folder, 'file'), '')
    const broken = new Storage({ disk: new LocalStorageProvider({ root: join(folder, 'file') }) })
    const works = [broken.putObject('a', 'x'), broken.health(), broken.deleteObject('a'), broken.getObject('a')]
    for (const work of works) await expect(work).rejects.toMatchObject({ code: 'StorageRefusedError', status: 500 })
    const named = { key: 'a', message: expect.stringMatching(/root\/file|EEXIST|ENOTDIR/) }
    await expect(broken.putObject('a', 'x')).rejects.toMatchObject(named)
  })

  test('a root that cannot be had is not one without objects', async () => {
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'))
    const broken = new Storage({ disk: new LocalStorageProvider({ root: join(folder, 'dangling') }) })
    const works = [broken.getObject('a'), broken.exists('a'), broken.deleteObject('a'), keysOf(broken)]
    for (const work of works) await expect(work).rejects.toMatchObject({ code: 'StorageRefusedError' })
  })

  test.each(['a file', 'a symbolic link'])('its own folder that is %s is no one’s key', async (what) => {
    mkdirSync(root)
    if (what === 'a file') writeFileSync(join(root, '.storage'), '')
    else symlinkSync(folder, join(root, '.storage'))
    const named = { code: 'StorageRefusedError', status: 500, message: expect.stringContaining('Remove it') }
    await expect(storage.putObject('a', 'x')).rejects.toMatchObject(named)
    await expect(storage.health()).rejects.toMatchObject(named)
  })

  test('an object that is removed, moved or could not be put leaves no content type', async () => {
    await storage.putObject('a', 'x', 'text/x-own')
    await storage.move('a', 'b')
    await storage.deleteObject('b')
    await storage.putObject('c', 'x')
    await expect(storage.putObject('c/d', 'x', 'text/x-own')).rejects.toMatchObject(refused)
    await expect(storage.move('c', 'c/d')).rejects.toMatchObject(refused)
    await storage.deleteObject('c')
    expect(readdirSync(join(root, '.storage/types'))).toEqual([])
  })

  test('a content type that cannot be read is not that of the name, and leaves no file open', async () => {
    await storage.putObject('page.html', '<script>', 'application/octet-stream')
    const types = join(root, '.storage/types')
    const [key] = readdirSync(types) as [string]
    const [version] = readdirSync(join(types, key)) as [string]
    rmSync(join(types, key, version))
    mkdirSync(join(types, key, version))
    const before = openFiles()
    const refusal = { code: 'StorageRefusedError', message: expect.stringContaining('EISDIR') }
    await expect(storage.metadata('page.html')).rejects.toMatchObject(refusal)
    await expect(storage.copy('page.html', 'copy.html')).rejects.toMatchObject(refusal)
    await expect(storage.move('page.html', 'moved.html')).rejects.toMatchObject(refusal)
    expect(openFiles()).toBe(before)
    expect(await keysOf(storage)).toEqual(['page.html'])
  })

  test('there are no addresses', async () => {
    const none = { code: 'StorageUrlError', message: expect.stringContaining('signedUrls') }
    await expect(storage.getDownloadUrl('a', 60)).rejects.toMatchObject(none)
    await expect(storage.getUploadUrl('a', 60)).rejects.toMatchObject(none)
    await expect(storage.getPublicUrl('a')).rejects.toMatchObject(none)
  })
})

const size = 5 * 1024 ** 2
const writer = (root: string) => `
  const { LocalStorageProvider } = await import(${JSON.stringify(
    pathToFileURL(join(import.meta.dirname, '../../../plugins/storage/providers/local.ts')).href,
  )})
  const provider = new LocalStorageProvider({ root: ${JSON.stringify(root)} })
  console.log('ready')
  let next = 0
  await Promise.all(Array.from({ length: 10 }, async () => {
    for (let i = next++; i < 100; i = next++) await provider.put('big/' + i, Buffer.alloc(${size}, i), 'application/x-own')
  }))`

test('a process that is killed in the middle of 100 puts of 5 MB leaves no object in part', async () => {
  const child = spawn(process.execPath, [...withTypeScript, '--input-type=module', '-e', writer(root)], {
    cwd: join(import.meta.dirname, '../../..'),
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const big = join(root, 'big')
  await until(() => existsSync(big) && readdirSync(big).length >= 20, '20 objects', 100_000)
  // Stopped until it is seen to be in the middle of a put.
  await until(() => {
    child.kill('SIGSTOP')
    if (readdirSync(join(root, '.storage/tmp')).length > 0) return true
    child.kill('SIGCONT')
    return false
  }, 'a put that is not done')
  child.kill('SIGKILL')
  await exited
  const names = readdirSync(big)
  expect(names.length).toBeLessThan(100)
  expect(readdirSync(join(root, '.storage/tmp'))).not.toEqual([])
  for (const name of names) {
    const bytes = await storage.getObject(`big/${name}`)
    expect(bytes.length).toBe(size)
    expect(Buffer.compare(bytes, Buffer.alloc(size, Number(name)))).toBe(0)
    expect((await storage.metadata(`big/${name}`)).contentType).toBe('application/x-own')
  }
  for await (const entry of storage.list()) expect(entry.size).toBe(size)
})

test('an unfinished file is removed when it is old enough', async () => {
  await storage.putObject('a', 'x')
  const [old, fresh] = ['old', 'fresh'].map((name) => join(root, '.storage/tmp', name))
  writeFileSync(old!, 'part')
  writeFileSync(fresh!, 'part')
  utimesSync(old!, Date.now() / 1000 - 7200, Date.now() / 1000 - 7200)
  await open().putObject('b', 'x')
  await until(() => !existsSync(old!), 'its removal')
  expect(existsSync(fresh!)).toBe(true)
  expect(statSync(join(root, 'a')).size).toBe(1)
})

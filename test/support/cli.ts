import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. */
export async function runIn(folder: string, command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const [program, ...args] = command
  const child = spawn(program!, args, {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', FORCE_COLOR: undefined, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/** Runs the built command line. */
export function framework(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const file = join(root, 'dist/cli/index.js')
  if (!existsSync(file)) throw new Error('dist/ is missing: run `npm run build` first')
  return runIn(folder, [process.execPath, file, ...args], env)
}

export interface Project {
  readonly folder: string
  write(files: Readonly<Record<string, string>>): void
  remove(): void
}

/** An application in a folder of its own, with the built framework and other named packages. */
export function makeProject(files: Readonly<Record<string, string>> = {}, packages: readonly string[] = []): Project {
  // Nothing beside it: a test may name a file outside of the project, which another program must not have created.
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'framework-cli-')))
  const folder = join(parent, 'app')
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  // Copied: through a link Deno does not recognise a package of the project.
  const own = join(folder, 'node_modules/framework')
  cpSync(join(root, 'dist'), join(own, 'dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(own, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(own, 'node_modules'), 'junction')
  for (const name of [...packages, '@types/node', 'undici-types']) {
    const from = join(root, 'node_modules', name)
    if (existsSync(from)) symlinkSync(from, join(folder, 'node_modules', name), 'junction')
  }
  const write = (texts: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  write({ 'package.json': '{ "name": "app", "private": true, "type": "module" }', ...files })
  return { folder, write, remove: () => rmSync(parent, { recursive: true, force: true }) }
}

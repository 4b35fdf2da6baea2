import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import manifest from '../../../package.json' with { type: 'json' }
import { toolScript } from '../../runtimes/run.mjs'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

const execute = promisify(execFile)

/** Runs a program to its end; rejects with everything it printed. */
export async function execOutput(command: string, args: readonly string[], cwd: string): Promise<string> {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' }
  // The options of a surrounding `npm test`, and vitest's settings of its workers, are not for the tested program.
  for (const name of Object.keys(env)) {
    if (
      /^npm_(package|lifecycle)_|^npm_config_local_prefix$|^INIT_CWD$|^NODE_OPTIONS$|^VITEST|^FORCE_COLOR$/i.test(name)
    ) {
      delete env[name]
    }
  }
  const options = { cwd, env, encoding: 'utf8', timeout: 280_000, maxBuffer: 64 * 1024 * 1024 } as const
  try {
    return (await execute(command, args, options)).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed\n${stdout}\n${stderr}`.trim(), { cause: error })
  }
}

/** The Node.js that has started the tests, for which npm also chooses the versions of packages. */
const node = process.env.FRAMEWORK_OLDEST_NODE ?? process.execPath

export function npm(args: readonly string[], cwd: string): Promise<string> {
  const cli = process.env.npm_execpath
  return cli?.endsWith('.js') ? execOutput(node, [cli, ...args], cwd) : execOutput('npm', args, cwd)
}

/** The runner builds before the tests; a test file that runs alone builds if necessary. */
export function buildIfMissing(): void {
  if (existsSync(join(root, 'dist/index.js'))) return
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const result = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, encoding: 'utf8' })
  if (result.status !== 0) throw new Error(`dist is missing and cannot be built:\n${result.stdout}${result.stderr}`)
}

/** Packs the package as it would be published and returns the path of the tarball. */
export async function pack(destination: string, from = root, ...options: string[]): Promise<string> {
  // By its folder: the output of npm, also with `--json`, changes with its version.
  await npm(['pack', ...options, '--pack-destination', destination], from)
  const tarball = readdirSync(destination).find((file) => file.endsWith('.tgz'))
  if (!tarball) throw new Error(`npm pack left no tarball in ${destination}`)
  return join(destination, tarball)
}

/** Are the types wrong? It exits with an error, and so this rejects, when any entry point of the tarball has a problem. */
export async function expectTypesToResolve(
  tarball: string,
  entryPoints: readonly string[],
  cwd: string,
): Promise<void> {
  const attw = toolScript('attw')
  const options = ['--profile', 'esm-only', '--no-emoji', '--no-color', '--format', 'ascii']
  const included = entryPoints.flatMap((entryPoint) => ['--include-entrypoints', entryPoint])
  const output = await execOutput(process.execPath, [attw, tarball, ...options, ...included], cwd)
  const missing = entryPoints.filter((entryPoint) => !output.includes(`${manifest.name}/${entryPoint}`))
  if (missing.length > 0) throw new Error(`it has not looked at ${missing.join(', ')}`)
}

/** The paths of a package's files, in order. */
export function filesOf(tarball: string): string[] {
  const bytes = gunzipSync(readFileSync(tarball))
  const files: string[] = []
  // https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html, "ustar Interchange Format"
  for (let at = 0; at < bytes.length && bytes[at] !== 0; ) {
    const field = (from: number, length: number) =>
      bytes.toString('utf8', at + from, at + from + length).replace(/\0.*$/s, '')
    const path = [field(345, 155), field(0, 100)].filter(Boolean).join('/')
    if (field(156, 1) === '0') files.push(path.replace(/^package\//, ''))
    at += 512 * (1 + Math.ceil(Number.parseInt(field(124, 12), 8) / 512))
  }
  return files.sort()
}

import { spawn } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

const arm = process.arch === 'arm64'

/** Where each runtime's binary may be, best first. */
const places = {
  // The postinstall script of `bun` moves the binary here out of the platform package; before it ran, a stub of a few
  // bytes lies here and the binary there.
  bun: ['bun/bin/bun.exe', `@oven/bun-linux-${arm ? 'aarch64' : 'x64'}/bin/bun`],
  deno: [`@deno/linux-${arm ? 'arm64' : 'x64'}-glibc/deno`, 'deno/deno'],
  node22: ['node22/bin/node'],
  node24: ['node24/bin/node'],
  node26: ['node26/bin/node'],
}

/** Programs in JavaScript, which the Node.js of this process runs. */
const tools = { typescript5: 'typescript5/lib/tsc.js', attw: 'attw/dist/index.js' }

/** The names that {@link runtimeBinary} takes. */
export const runtimes = Object.keys(places)

/**
 * The path of a pinned tool, whether it is installed or not.
 *
 * @param {keyof typeof tools} name
 */
export const toolScript = (name) => join(import.meta.dirname, 'node_modules', tools[name])

/**
 * The path of a pinned runtime, `undefined` when it is not installed. Does not rely on install scripts.
 *
 * @param {string} name
 * @returns {string | undefined}
 */
export function runtimeBinary(name) {
  const candidates = places[/** @type {keyof typeof places} */ (name)] ?? []
  return candidates
    .map((place) => join(import.meta.dirname, 'node_modules', place))
    .find((file) => existsSync(file) && statSync(file).size > 1_000_000)
}

function main() {
  const [name = '', ...args] = process.argv.slice(2)
  const tool = name in tools ? toolScript(/** @type {keyof typeof tools} */ (name)) : undefined
  if (tool !== undefined && existsSync(tool)) args.unshift(tool)
  const binary = tool === undefined ? runtimeBinary(name) : existsSync(tool) ? process.execPath : undefined
  if (binary === undefined) {
    console.error(
      `${name || 'no name given'}: not one of ${[...runtimes, ...Object.keys(tools)].join(', ')}, or not installed: npm ci --prefix test/runtimes`,
    )
    process.exit(127)
  }
  const child = spawn(binary, args, { stdio: 'inherit' })
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1))
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) main()

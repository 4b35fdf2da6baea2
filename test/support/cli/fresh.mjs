// Runs built command lines one after the other in one process: `{ folder, argv, file, env }` on each line that comes, what became of it
// on each that goes. Each run imports the command line, the framework and the application anew, as a process would, and only the packages
// that these use stay. What is kept from one run to the next: nothing of the environment, the streams and the listeners of the process.
import nodeModule, { syncBuiltinESMExports } from 'node:module'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { initialize, resolveSync } from './fresh-hooks.mjs'

/** The number of the run. */
const run = new Int32Array(new SharedArrayBuffer(4))
const { register, registerHooks } = nodeModule
// In the thread itself, where the version of Node.js can: each module goes to the thread of the others and back.
if (registerHooks === undefined) register('./fresh-hooks.mjs', import.meta.url, { data: run })
else {
  initialize(run)
  registerHooks({ resolve: resolveSync })
}
// The hooks for TypeScript of the first run serve the others: hooks cannot be taken back.
let hasTypeScript = false
const once = (/** @type {() => any} */ begin) => {
  if (hasTypeScript) return
  hasTypeScript = true
  return begin()
}
nodeModule.register = (/** @type {[string | URL, ...any]} */ ...given) =>
  once(() => Reflect.apply(register, nodeModule, given))
if (registerHooks !== undefined) nodeModule.registerHooks = (hooks) => once(() => registerHooks(hooks))
syncBuiltinESMExports()

/** What `process.exit` throws, with which each command line ends. */
class Exit extends Error {
  /** @param {number | string | null | undefined} code */
  constructor(code) {
    super(`process.exit(${code})`)
    this.code = Number(code ?? 0)
  }
}

const streams = /** @type {const} */ (['stdout', 'stderr'])
const writes = { stdout: process.stdout.write, stderr: process.stderr.write }
const answer = process.stdout.write.bind(process.stdout)
const { exit } = process
const { log, info, debug, error, warn } = console

/** Each emitter with its events, whose listeners a run may add. */
const emitters = [
  ...['uncaughtException', 'unhandledRejection', 'SIGINT', 'SIGTERM', 'exit', 'warning', 'message'].map(
    (event) => /** @type {const} */ ([process, event]),
  ),
  ...streams.map((name) => /** @type {const} */ ([process[name], 'error'])),
].map(([emitter, event]) => ({ emitter: /** @type {import('node:events').EventEmitter} */ (emitter), event }))

for await (const line of createInterface({ input: process.stdin })) {
  const { folder, argv, file, env } = JSON.parse(line)
  Atomics.add(run, 0, 1)
  process.chdir(folder)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.argv = [process.execPath, file, ...argv]
  const text = { stdout: '', stderr: '' }
  for (const name of streams) {
    process[name].write = (/** @type {any[]} */ ...[chunk, encoding, done]) => {
      text[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
      const written = typeof encoding === 'function' ? encoding : done
      if (written !== undefined) process.nextTick(written)
      return true
    }
  }
  const before = emitters.map(({ emitter, event }) => emitter.listeners(event))
  process.exit = (code) => {
    throw new Exit(code)
  }
  let code
  try {
    await import(pathToFileURL(file).href)
  } catch (thrown) {
    if (thrown instanceof Exit) code = thrown.code
    else text.stderr += thrown instanceof Error ? thrown.stack : String(thrown)
  }
  emitters.forEach(({ emitter, event }, i) => {
    for (const listener of emitter.listeners(event)) {
      if (before[i]?.includes(listener)) continue
      if (event === 'exit') Reflect.apply(listener, process, [code])
      emitter.removeListener(event, /** @type {() => void} */ (listener))
    }
  })
  process.exit = exit
  process.exitCode = undefined
  for (const name of streams) process[name].write = writes[name]
  Object.assign(console, { log, info, debug, error, warn })
  for (const key of Object.getOwnPropertySymbols(globalThis))
    if (Symbol.keyFor(key)?.startsWith('framework.')) Reflect.deleteProperty(globalThis, key)
  // For the readline of newer versions of Node.js, a line ends at these, too.
  const escaped = JSON.stringify({ code, ...text }).replace(
    /[\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16)}`,
  )
  answer(`${escaped}\n`)
}
exit(0)

import { createHook } from 'node:async_hooks'
import process from 'node:process'
import { router } from 'framework'
import { pause } from '../../support/kernel.ts'

/** Resources that keep a process running, by the names that Node.js has for them. */
const keeping =
  /^(?:Timeout|TCPWRAP|TCPSERVERWRAP|PIPEWRAP|PIPESERVERWRAP|UDPWRAP|FSEVENTWRAP|STATWATCHER|PROCESSWRAP|WORKER|MESSAGEPORT|HTTP2SESSION|SIGNALWRAP)$/

/** What everyone in the process shares, each with its number. */
function sharedState(): ReadonlyMap<string, number> {
  const state = new Map<string, number>()
  const count = (what: string, number = 1) => state.set(what, (state.get(what) ?? 0) + number)
  for (const event of process.eventNames())
    count(`a listener of process.${String(event)}`, process.listenerCount(event))
  // Not symbols, by which copies of a package share what belongs to the process.
  for (const name of Object.getOwnPropertyNames(globalThis)) count(`the global ${name}`)
  for (const prototype of [Object.prototype, Array.prototype, Function.prototype])
    for (const name of Reflect.ownKeys(prototype)) count(`a member ${String(name)} of ${prototype.constructor.name}`)
  for (const [name, value] of Object.entries(process.env)) count(`the environment variable ${name}=${value}`)
  count('a route in the router of the process', router.routes.length)
  return state
}

/** Follows what is opened and changed in the process, until `stop`. Only Node.js reports what is open. */
export function watchProcess(): { added(): Promise<string[]>; stop(): void } {
  const before = sharedState()
  const open = new Map<number, { readonly type: string; readonly resource: { hasRef?(): boolean } }>()
  const hook = createHook({
    init: (id, type, _trigger, resource) => void (keeping.test(type) && open.set(id, { type, resource })),
    destroy: (id) => void open.delete(id),
  })
  if (process.versions.bun === undefined && process.versions.deno === undefined) hook.enable()
  const addedNow = () => [
    ...[...open.values()].filter(({ resource }) => resource.hasRef?.() !== false).map(({ type }) => `an open ${type}`),
    // Not the values of variables, which may be secrets.
    ...[...sharedState()].flatMap(([what, number]) =>
      number > (before.get(what) ?? 0) ? [what.replace(/=.*/s, '')] : [],
    ),
  ]
  return {
    /** Waits up to a second for what is just ending. */
    async added() {
      for (const end = performance.now() + 1_000; ; await pause(10)) {
        // The timer of the pause itself has ended by then.
        await new Promise((resolve) => setImmediate(resolve))
        const added = addedNow()
        if (added.length === 0 || performance.now() > end) return added
      }
    },
    stop: () => void hook.disable(),
  }
}

import process from 'node:process'
import { router } from 'framework'
import { lineOf } from '../../../plugins/testing/leaks/leak.ts'
import { trackLeaks } from '../../../plugins/testing/leaks/track.ts'

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

/** Follows what is opened and changed in the process, until `stop`. */
export function watchProcess(): { added(): Promise<string[]>; stop(): void } {
  const before = sharedState()
  const leaks = trackLeaks()
  return {
    async added() {
      const open = await leaks.find()
      const changed = [...sharedState()].filter(([what, number]) => number > (before.get(what) ?? 0))
      // Not the values of variables, which may be secrets.
      return [...open.map(lineOf), ...changed.map(([what]) => what.replace(/=.*/s, ''))]
    },
    stop: () => leaks.stop(),
  }
}

import { AsyncLocalStorage } from 'node:async_hooks'

/** The server whose hook, request or job is running. `contexts.ts` of the room `work` enters it. */
export const running = new AsyncLocalStorage<object | undefined>()

/** The server whose hook, request or job is running; `undefined` elsewhere, and in requests and jobs while only one server could be meant. */
export const runningServer = (): object | undefined => running.getStore()

/** Does work that belongs to no server although one has asked for it: a module is imported once for all of them. */
export function outsideServers<Result>(work: () => Result): Result {
  return running.getStore() === undefined ? work() : running.run(undefined, work)
}

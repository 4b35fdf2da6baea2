import type { KernelRequest } from '../http/request/request.ts'
import { bodiesOf, type KernelResponse } from '../http/response/response-buffer.ts'
import type { Next } from '../routing/middleware.ts'
import { defineError, defineErrors } from '../support/errors.ts'
import { isPromise } from '../support/within.ts'

export const { ChainStoppedError, NextCalledTwiceError } = defineErrors({
  ChainStoppedError: (name: string) => `chain stopped in ${name}: it neither answered nor called next()`,
  NextCalledTwiceError: (name: string) => `next() was called twice in ${name}. Return after calling it`,
})

const ClientGoneError = defineError('ClientGoneError', 499, () => 'the client disconnected')

/** One step as the runner needs it: what to call, and how to name it in an error. */
export interface Link {
  readonly name: string
  /** `forBodies`: it only calls `next()` for a request without a body. Calling it for that takes a tenth of a small request. */
  readonly run: ((req: KernelRequest, res: KernelResponse, next: Next) => unknown) & { readonly forBodies?: boolean }
  /** Whether it may call `next()` again after the later steps have ended, which takes their response back. */
  readonly repeats?: boolean
}

/** The end of a chain: the handler, or the function that answers a miss. */
export type Terminal = (req: KernelRequest, res: KernelResponse) => unknown

/** Returns a promise whose `then` returns a promise: the `then` of a query builder or of a mock may do anything. */
export function trusted(thenable: Promise<unknown>): Promise<unknown> {
  return thenable instanceof Promise ? thenable : Promise.resolve(thenable)
}

/** What `next()` returns while a later step is working: the promise, and whether the calling step has observed it. */
export class Downstream implements Promise<void> {
  /** The step that called `next()`. */
  readonly name: string
  readonly promise: Promise<void>
  observed = false
  settled = false
  readonly [Symbol.toStringTag] = 'Promise'

  constructor(name: string, promise: Promise<unknown>, req: KernelRequest) {
    this.name = name
    this.promise = promise as Promise<void>
    const settle = () => {
      this.settled = true
      req.current = this
    }
    // Also prevents a failure that no one observes from ending the process.
    promise.then(settle, settle)
  }

  // biome-ignore lint/suspicious/noThenProperty: it takes the place of a promise
  then<A = void, B = never>(
    resolved?: ((value: void) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.observed = true
    return this.promise.then(resolved, rejected)
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<void | B> {
    return this.then(undefined, rejected)
  }

  finally(run?: (() => void) | null): Promise<void> {
    this.observed = true
    return this.promise.finally(run)
  }
}

/**
 * Runs the steps from `from` on, then the terminal. Returns a promise only when one of them was
 * asynchronous; otherwise a failure is thrown.
 *
 * It uses an index with a flag for each step, not one shared cursor: a cursor cannot show which step called `next()` twice,
 * and a careless middleware could skip an asynchronous guard that is still pending.
 */
export function runChain(
  links: readonly Link[],
  from: number,
  terminal: Terminal,
  req: KernelRequest,
  res: KernelResponse,
): Promise<unknown> | undefined {
  let index = from
  while (links[index]?.run.forBodies === true && !req.raw.hasBody) index++
  if (index === links.length) return runTerminal(terminal, req, res)
  // The closures below read `links[index]` again: sharing this variable would add one more member to each step's context.
  const link = links[index]!
  req.current = link
  let called = false
  let downstream: Downstream | undefined
  // What a call of `next()` does once the step has returned without a promise: the call then comes from a callback.
  let later: ((error: unknown) => Downstream | undefined) | undefined

  const next = (error?: unknown): Downstream | undefined => {
    if (later !== undefined) return later(error)
    const isRepeated = called
    called = true
    // The request was given up, but the step does not know; or a response was sent instead of the step: no later step may begin.
    if (req.givenUp) return undefined
    if (isRepeated && !(links[index]!.repeats && downstream?.settled !== false))
      throw NextCalledTwiceError(links[index]!.name)
    if (isRepeated) res.reset()
    if (error !== undefined && error !== null) throw error
    const rest = runChain(links, index + 1, terminal, req, res)
    if (rest !== undefined) downstream = new Downstream(links[index]!.name, rest, req)
    return downstream
  }

  const result = link.run(req, res, next)
  if (result !== undefined && isPromise(result)) {
    if (downstream !== undefined && (result as unknown) === downstream) return downstream.promise
    // A plain `then` and not an async function: it makes a whole chain of four asynchronous steps 1.17 times cheaper.
    return trusted(result).then(() => {
      if (!called) {
        if (!res.answered && res.opening === undefined) throw ChainStoppedError(links[index]!.name)
        return undefined
      }
      // Waits for the later steps, unless this step itself has observed how they ended.
      return downstream === undefined || (downstream.observed && downstream.settled) ? undefined : downstream.promise
    })
  }
  if (called) return downstream?.promise
  if (res.answered) return undefined
  const detached = detach(link, res, () => runChain(links, index + 1, terminal, req, res))
  later = detached.next
  return detached.promise
}

/** For a step that has returned without a result: it will call `next()`, or answer, from a callback. */
function detach(
  { name }: Link,
  res: KernelResponse,
  run: () => Promise<unknown> | undefined,
): { next: (error: unknown) => Downstream | undefined; promise: Promise<void> } {
  const { request: req } = res
  let settle: ((...failure: unknown[]) => void) | undefined
  const promise = new Promise<void>((resolve, reject) => {
    settle = (...failure) => {
      settle = undefined
      res.onAnswer = undefined
      if (failure.length === 0) resolve()
      else reject(failure[0])
    }
  })
  res.onAnswer = () => settle?.()
  req.raw.onAbort(() => {
    if (settle === undefined) return
    req.givenUp = true
    settle(ClientGoneError())
  })
  let called = false
  const next = (error: unknown): Downstream | undefined => {
    // The step was given up, and does not know that.
    if (req.givenUp) return undefined
    if (called || settle === undefined) {
      // Thrown into a timer or a callback, it would end the process.
      req.log.error({ err: NextCalledTwiceError(name) }, `next() was called twice in ${name}`)
      return undefined
    }
    called = true
    const end = settle
    // From here on, the end of the later steps decides, neither a response nor the client's leaving.
    settle = undefined
    if (error !== undefined && error !== null) {
      end(error)
      return undefined
    }
    try {
      const rest = run()
      if (rest === undefined) return void end()
      rest.then(() => end(), end)
      return new Downstream(name, rest, req)
    } catch (thrown) {
      end(thrown)
    }
    return undefined
  }
  return { next, promise }
}

function runTerminal(terminal: Terminal, req: KernelRequest, res: KernelResponse): Promise<unknown> | undefined {
  req.current = undefined
  const result = terminal(req, res)
  if (isPromise(result)) return trusted(result).then((value) => takeValue(value, res))
  return takeValue(result, res)
}

/** Treats a returned error as thrown; after a response, which is kept, the error is logged. */
function takeError(error: Error, res: KernelResponse): void {
  if (!res.answered) throw error
  const { log, method, route } = res.request
  log.error({ err: error }, `${method} ${route ?? res.request.path} returned an error after its response`)
}

/** Sends a returned value as the body unless the handler has answered itself; returns a promise if one must still be awaited. */
function takeValue(value: unknown, res: KernelResponse): Promise<unknown> | undefined {
  // Something else responds, and may still be at it.
  if (res.request.givenUp) return void bodiesOf(res).discard(value, res)
  // So that a middleware around the handler that looks at the response sees the file.
  if (value === undefined || value === res) return res.answered ? undefined : res.opening
  if (value instanceof Error) takeError(value, res)
  else if (!res.answered) res.sendWith(value, 0)
  else bodiesOf(res).discard(value, res)
  return undefined
}

import { defineError } from '../support/errors.ts'
import type { KernelRequest } from './request.ts'
import type { KernelResponse } from './response.ts'

export const ChainStoppedError = defineError(
  'ChainStoppedError',
  500,
  (name: string) => `chain stopped in ${name}: it neither answered nor called next()`,
)
export const NextCalledTwiceError = defineError(
  'NextCalledTwiceError',
  500,
  (name: string) => `next() was called twice in ${name}. Return after calling it`,
)

/** One step as the runner needs it: what to call, and how to name it in an error. */
export interface Link {
  readonly name: string
  readonly run: (req: KernelRequest, res: KernelResponse, next: (error?: unknown) => void | Promise<void>) => unknown
}

/** What ends a chain: the handler, or what answers a miss. */
export type Terminal = (req: KernelRequest, res: KernelResponse) => unknown

/** How a step that is left pending is watched. */
export interface Pending {
  /** Gives up on the step after the request time-out, or when the client has left. */
  watch(name: string, req: KernelRequest, giveUp: (error: unknown) => void): () => void
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

const noop = () => {}

/**
 * Runs the steps from `index` on, then the terminal. Returns a promise only when something on the way was
 * asynchronous; a failure is thrown or rejects accordingly.
 *
 * An index with a flag for each step, not one shared cursor: a cursor cannot tell which step called `next()` twice,
 * and a careless middleware could step over an asynchronous guard that is still pending.
 */
export function runChain(
  links: readonly Link[],
  index: number,
  terminal: Terminal,
  req: KernelRequest,
  res: KernelResponse,
  pending: Pending,
): unknown {
  if (index === links.length) return runTerminal(terminal, req, res)
  const link = links[index]!
  let called = false
  let returned = false
  let behind: unknown
  // Set while the step is pending: it has returned, and did nothing yet.
  let resume: ((error: unknown, result?: unknown) => void) | undefined

  const next = (error?: unknown): void | Promise<void> => {
    if (called) throw NextCalledTwiceError(link.name)
    called = true
    if (resume === undefined) {
      if (error !== undefined && error !== null) throw error
      behind = runChain(links, index + 1, terminal, req, res, pending)
      // An async step that called next() late may never look at the promise.
      if (returned && isPromise(behind)) behind.then(noop, noop)
      return behind as void | Promise<void>
    }
    const settle = resume
    resume = undefined
    if (error !== undefined && error !== null) {
      settle(error)
      return undefined
    }
    try {
      behind = runChain(links, index + 1, terminal, req, res, pending)
    } catch (thrown) {
      settle(thrown)
      return undefined
    }
    if (isPromise(behind)) {
      behind.then(
        () => settle(undefined),
        (reason: unknown) => settle(reason ?? new Error('rejected without a reason')),
      )
    } else settle(undefined)
    return behind as void | Promise<void>
  }

  let result: unknown
  try {
    result = link.run(req, res, next)
  } catch (error) {
    // What runs behind is nobody's any more; its failure must not end the process.
    if (isPromise(behind)) behind.then(noop, noop)
    throw error
  }
  returned = true
  if (isPromise(result)) {
    if (called && result === behind) return result
    if (isPromise(behind)) behind.then(noop, noop)
    return settleAsync(
      result,
      link,
      res,
      () => called,
      () => behind,
    )
  }
  if (called) return behind
  if (res.answered) return undefined
  return new Promise((resolve, reject) => {
    const stop = pending.watch(link.name, req, (error) => resume?.(error))
    resume = (error) => {
      resume = undefined
      res.onAnswer = undefined
      called = true
      stop()
      if (error === undefined) resolve(undefined)
      else reject(error)
    }
    res.onAnswer = () => resume?.(undefined)
  })
}

async function settleAsync(
  result: Promise<unknown>,
  link: Link,
  res: KernelResponse,
  called: () => boolean,
  behind: () => unknown,
) {
  await result
  if (called()) await behind()
  else if (!res.answered) throw ChainStoppedError(link.name)
}

function runTerminal(terminal: Terminal, req: KernelRequest, res: KernelResponse): unknown {
  const result = terminal(req, res)
  if (isPromise(result)) return result.then((value) => takeValue(value, res))
  takeValue(result, res)
  return undefined
}

/** A returned value becomes the body unless the handler answered itself. */
function takeValue(value: unknown, res: KernelResponse): void {
  if (value === undefined || value === res || res.answered) return
  res.sendWith(value, 0)
}

import { defineError, type FrameworkError } from './errors.ts'
import { nearest } from './nearest.ts'

const ArgumentsError = defineError('ArgumentsError', 500, (call: string, takes: string) => `${call}() takes ${takes}`)

/** What is wrong with the arguments of `listen`, if anything is. */
export function listenMistake(args: readonly unknown[]): FrameworkError | undefined {
  const [callback, ...more] = args
  if (more.length === 0 && (callback === undefined || typeof callback === 'function')) return undefined
  const takes = 'a callback or nothing; port and host are options of the server: new Server({ port: 3000 })'
  return ArgumentsError('listen', takes)
}

/**
 * What is wrong with an argument of `close`: options and callbacks would be ignored. As a listener it is handed an event, the
 * name of a signal or a value, and must close all the same.
 */
export function closeMistake(given: unknown): FrameworkError | undefined {
  const isPlain =
    typeof given === 'object' && given !== null && [Object.prototype, null].includes(Object.getPrototypeOf(given))
  if (typeof given !== 'function' && !isPlain) return undefined
  const takes =
    'nothing, and returns a promise; how long it may last is an option of the server: new Server({ closeTimeout: 5_000 })'
  return ArgumentsError('close', takes)
}

const injected = ['method', 'url', 'headers', 'body', 'ip', 'signal']

/** What is wrong with the arguments of `inject`, if anything is. */
export function injectMistake(request: unknown, second: unknown): FrameworkError | undefined {
  const example = "inject({ url: '/users' }); a Server has inject.get('/users') and the other verbs as well"
  if (second !== undefined || typeof request !== 'object' || request === null) {
    return ArgumentsError('inject', `one object: ${example}`)
  }
  if ((request as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === 'Request') {
    return ArgumentsError('inject', 'an object; a web Request is for fetch(request)')
  }
  for (const name in request) {
    if (injected.includes(name)) continue
    const near = nearest(name, injected)
    const guess = near === undefined ? '' : ` Did you mean "${near}"?`
    return ArgumentsError('inject', `{ ${injected.join(', ')} }, and "${name}" is none of them.${guess}`)
  }
  const { url, body } = request as { url?: unknown; body?: unknown }
  if (typeof url !== 'string') return ArgumentsError('inject', `a url: ${example}`)
  const isBody =
    typeof body === 'string' ||
    body instanceof Uint8Array ||
    typeof (body as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator] === 'function'
  if (body === undefined || isBody) return undefined
  return ArgumentsError('inject', 'a body of text, bytes or an async iterable of bytes; write data with JSON.stringify')
}

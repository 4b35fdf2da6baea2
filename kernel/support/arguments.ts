import { defineError, type FrameworkError } from './errors.ts'

/**
 * Says that a function of the framework was called with arguments that it does not accept.
 *
 * @example
 * throw ArgumentsError('mailer.send', 'a function that writes the mail')
 */
export const ArgumentsError = defineError('ArgumentsError', (call: string, takes: string) => `${call}() takes ${takes}`)

/** The mistake in the arguments of `listen`, if there is one. */
export function listenMistake(args: readonly unknown[]): FrameworkError | undefined {
  const [callback, ...more] = args
  if (more.length === 0 && (callback === undefined || typeof callback === 'function')) return undefined
  const takes = 'a callback or nothing; port and host are options of the server: new Server({ port: 3000 })'
  return ArgumentsError('listen', takes)
}

/**
 * The mistake in an argument of `close`: options and callbacks would be ignored. When `close` is used as a listener, it receives an
 * event, the name of a signal or a value, and must close nevertheless.
 */
export function closeMistake(given: unknown): FrameworkError | undefined {
  const isPlain =
    typeof given === 'object' && given !== null && [Object.prototype, null].includes(Object.getPrototypeOf(given))
  if (typeof given !== 'function' && !isPlain) return undefined
  const takes =
    'nothing, and returns a promise; how long it may last is an option of the server: new Server({ closeTimeout: 5_000 })'
  return ArgumentsError('close', takes)
}

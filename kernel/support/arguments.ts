import { defineError } from './errors.ts'

/**
 * Says that a function of the framework was called with arguments that it does not accept.
 *
 * @example
 * throw ArgumentsError('mailer.send', 'a function that writes the email')
 */
export const ArgumentsError = defineError('ArgumentsError', (call: string, takes: string) => `${call}() takes ${takes}`)

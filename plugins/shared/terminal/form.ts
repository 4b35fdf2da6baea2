import { isatty } from 'node:tty'
import { nodeEnv } from '../environment/node-env.ts'
import { type Paint, paintFor } from './paint.ts'

/**
 * The form of this process's log. A development server sets it before it loads the application, which may have another
 * copy of this package, so it is stored under a symbol.
 */
const mark = Symbol.for('framework.log.form')

export type LogForm = 'text' | 'json'

export function setLogForm(form: LogForm): void {
  Object.assign(globalThis, { [mark]: form })
}

/** The colours of text for people; `undefined` where programs read the output. Default: text in development and on a terminal. */
export function textFor(descriptor: number): Paint | undefined {
  const said = (globalThis as { readonly [mark]?: unknown })[mark]
  const isTerminal = isatty(descriptor)
  const isText = said === undefined ? nodeEnv() === 'development' && isTerminal : said === 'text'
  return isText ? paintFor(isTerminal) : undefined
}

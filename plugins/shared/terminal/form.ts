import { isatty } from 'node:tty'
import { nodeEnv } from '../environment/node-env.ts'
import { processWide } from '../environment/process-wide.ts'
import { type Paint, paintFor } from './paint.ts'

export type LogForm = 'text' | 'json'

/** The form of this process's log. */
export const { get: logForm, set: setLogForm } = processWide<LogForm>('log.form')

/** The colours of text for people; `undefined` where programs read the output. Default: text in development and on a terminal. */
export function textFor(descriptor: number): Paint | undefined {
  const said = logForm()
  const isTerminal = isatty(descriptor)
  const isText = said === undefined ? nodeEnv() === 'development' && isTerminal : said === 'text'
  return isText ? paintFor(isTerminal) : undefined
}

import type { Hook } from '../plugin/hooks.ts'
import { Downstream, type Link } from './chain.ts'

/** What a request is at: a step, what is left of one behind `next()`, a hook or something else with a name; `undefined` is the handler. */
export type Current = Link | Downstream | Hook<'onSend'> | { readonly task: string } | undefined

/** Says what took too long, for the log. */
export function describeCurrent(current: Current, handler: string, ms: number): string {
  const within = `within ${ms} ms`
  if (current === undefined) return `the handler of ${handler} did not answer ${within}`
  if (current instanceof Downstream) return `${current.name} did not end behind next() ${within}`
  if ('entry' in current) return `an onSend hook of the plugin "${current.entry.name}" did not settle ${within}`
  if ('task' in current) return `${current.task} did not settle ${within}`
  return `${current.name} neither answered nor called next() ${within}`
}

import type { Middleware, Response } from '../../../kernel/index.ts'
import { option } from '../options/index.ts'

/** The options of a page on which operators look after a plugin. */
export const operatorPageOptions = (path: string) => ({
  path: option
    .name(/^\/[^?#*:]*$/, 'a path that begins with "/", without parameters')
    .into((given) => given.replace(/\/+$/, '') || '/')
    .default(path),
  middlewares: option.list(option.fn<Middleware>('a middleware')).says('a list of middlewares').default([]).guard(),
})

/** Sends a page that nothing stores or frames. */
export function sendPage(res: Response, policy: string, page: string): Response {
  const headers = {
    'content-security-policy': policy,
    'cache-control': 'no-store',
    // With `no-referrer`, which helmet sets, browsers would send clicks without an origin.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  }
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  return res.html(page)
}

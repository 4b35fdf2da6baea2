import type { Middleware } from 'framework'

/** Logs a warning when a request takes long. */
export const slow: Middleware = async function slow(req, _res, next) {
  const start = performance.now()
  await next()
  const ms = performance.now() - start
  if (ms > 100) req.log.warn({ ms }, `${req.method} ${req.path} was slow`)
}

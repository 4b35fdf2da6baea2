import { definePlugin, type Response } from 'framework'

/** What an error-reporting service offers: the client of Sentry, of Honeybadger, or your own. */
export interface Reporter {
  capture(error: unknown, about: { request: string; route: string; status: number }): void
}

/** Reports the failures that are the application's fault, with the status that the client got. */
export const report = definePlugin({
  name: 'report',
  setup(ctx, { reporter }: { reporter: Reporter }) {
    const failures = new WeakMap<Response, unknown>()
    ctx.onError((error, _req, res) => void failures.set(res, error))
    ctx.onResponse((req, res) => {
      if (res.statusCode < 500 || !failures.has(res)) return
      const route = `${req.method} ${req.route ?? 'none'}`
      reporter.capture(failures.get(res), { request: req.id, route, status: res.statusCode })
    })
  },
})

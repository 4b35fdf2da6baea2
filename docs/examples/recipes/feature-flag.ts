import { createHash } from 'node:crypto'
import { definePlugin, HttpError, option, type Request, RouteCollection, Server } from 'framework'
import { userOf } from 'framework/plugins/auth'

/** For which part of the callers a feature is on: 0 for none, 100 for all. */
export class Flags {
  readonly #shares: Readonly<Record<string, number>>

  constructor(shares: Readonly<Record<string, number>>) {
    this.#shares = shares
  }

  /** The same caller always has the same result, in each process, and a larger share keeps those who have it. */
  isOn(flag: string, caller: string): boolean {
    const share = this.#shares[flag]
    if (share === undefined) throw new Error(`unknown flag "${flag}": add it to the option shares`)
    const hash = createHash('sha256').update(`${flag} ${caller}`).digest()
    return (hash.readUInt32BE() / 2 ** 32) * 100 < share
  }
}

declare module 'framework' {
  interface Services {
    flags: Flags
  }
  interface RouteOptions {
    /** The flag without which the route does not exist for the caller. */
    flag?: string
  }
}

const callerOf = (req: Request) => userOf(req)?.id ?? req.ip

export const flags = definePlugin({
  name: 'flags',
  options: option.shape({ shares: option.record(option.number({ min: 0, max: 100 })).required() }),
  routeOptions: { flag: option.name() },
  provide: ({ shares }) => ({ flags: new Flags(shares) }),
  setup(ctx, { shares }) {
    ctx.onRoute((route) => {
      const { flag } = route.options
      if (flag === undefined) return
      // A misspelt flag fails the boot, and not the first request.
      if (!(flag in shares)) throw new Error(`the route ${route.path} has the unknown flag "${flag}"`)
      route.add('guard', function flagged(req, _res, next) {
        if (!req.server.services.get('flags').isOn(flag, callerOf(req))) throw new HttpError(404)
        return next()
      })
    })
  },
})

export function makeServer(shares: Record<string, number>) {
  const routes = new RouteCollection()
  routes.get('/checkout', { flag: 'new-checkout' }, () => 'the new one')
  return new Server({ router: routes, plugins: { flags: flags({ shares }) } })
}

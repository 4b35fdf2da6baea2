import { definePlugin, type Request } from 'framework'

export interface Lap {
  readonly name: string
  readonly at: number
}

declare module 'framework' {
  interface Request {
    /** Notes that part of the work is done. */
    lap(name: string): void
    readonly laps: readonly Lap[]
  }
}

/** Lets handlers note how far they are: `req.lap('queried')`. */
export const laps = definePlugin({
  name: 'laps',
  setup(ctx) {
    const lapsOf = new WeakMap<Request, Lap[]>()
    ctx.decorate('request', {
      lap: {
        value(name: string) {
          const laps = lapsOf.get(this) ?? []
          lapsOf.set(this, [...laps, { name, at: performance.now() }])
        },
      },
      laps: {
        get() {
          return lapsOf.get(this) ?? []
        },
      },
    })
  },
})

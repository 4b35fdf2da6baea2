import { definePlugin, option } from 'framework'
import type { InspectorPanel } from 'framework/kernel'
import { SlowLog } from './slow-log.ts'

const panel: InspectorPanel = {
  title: 'Slow requests',
  columns: ['Route', 'Milliseconds'],
  rows: (services) => services.get('slow').entries.map(({ route, ms }) => [route, Math.round(ms)]),
  actions: [
    {
      name: 'Forget',
      confirm: 'Forget this route?',
      run(services, route) {
        services.get('slow').forget(route)
        return `${route} is forgotten.`
      },
    },
  ],
}

/** Remembers requests that take long, and shows them in the inspector. */
export const slow = definePlugin({
  name: 'slow',
  options: option.shape({ after: option.ms().default(100), keep: option.int({ min: 1 }).default(20) }),
  inspector: () => [panel],
  provide: ({ keep }) => ({ slow: new SlowLog(keep) }),
  setup(ctx, { after }) {
    const log = ctx.services.get('slow')
    ctx.onResponse((req, _res, ms) => {
      if (ms > after) log.add({ route: `${req.method} ${req.route ?? req.path}`, ms })
    })
  },
})

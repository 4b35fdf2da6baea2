import type { DoctorCheck } from '../toolkit/doctor/check.ts'

export const checks: readonly DoctorCheck[] = [
  {
    code: 'websocket.unused',
    level: 'hint',
    find({ listing, plugin, booted }) {
      const isUsed = listing.routes.some(
        ({ record, reachedBy }) => record.options.websocket && reachedBy.get('websocket') === plugin,
      )
      if (!booted || isUsed) return undefined
      return {
        problem: 'there is no route for websockets, so that none can be opened',
        remedy: 'Add one with router.ws(path, handlers), or remove the plugin',
      }
    },
  },
]

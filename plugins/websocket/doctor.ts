import { type DoctorCheck, unused } from '../shared/doctor/check.ts'

export const checks: readonly DoctorCheck[] = [
  unused('websocket', {
    problem: 'there is no route for websockets, so none can be opened',
    remedy: 'Add one with router.ws(path, handlers), or remove the plugin',
  }),
]

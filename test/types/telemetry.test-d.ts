import { router, Server, type Telemetry, type TelemetryOptions } from 'framework'
import type { Equal, Expect } from './expect.ts'

// Options, the route option and the service.
const server = new Server({ plugins: { telemetry: { incoming: 'link', fetch: false } } })
new Server({ plugins: { telemetry: true } })
router.get('/', { telemetry: false }, () => 'x')

// @ts-expect-error A route leaves telemetry out, or has that of the server.
router.get('/on', { telemetry: true }, () => 'x')
// @ts-expect-error It is 'parent' or 'link'.
export const wrong: TelemetryOptions = { incoming: 'trust' }

const service = server.services.get('telemetry')
const headers = service.inject({ accept: 'text/plain' })
export type Checks = [
  Expect<Equal<typeof service, Telemetry>>,
  Expect<Equal<typeof headers, { accept: string }>>,
  Expect<Equal<ReturnType<Telemetry['fetch']>, Promise<Response>>>,
]

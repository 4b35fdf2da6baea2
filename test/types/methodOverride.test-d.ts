import { Server } from 'framework'
import { methodOverride } from 'framework/plugins/methodOverride'

new Server({ plugins: { methodOverride: true } })
new Server({ plugins: { methodOverride: { header: 'x-method', methods: ['POST', 'PUT'] } } })
methodOverride()
// @ts-expect-error safe methods are never overridden
methodOverride({ methods: ['GET'] })
// @ts-expect-error one header
methodOverride({ header: ['x-a', 'x-b'] })
// @ts-expect-error no such option
new Server({ plugins: { methodOverride: { method: 'POST' } } })

import { Server } from 'framework'
import { json, urlencoded } from 'framework/plugins'

new Server({ plugins: { json: { sizeLimit: '1mb' }, urlencoded: { sizeLimit: 10_000 } } })
new Server({ plugins: { json: { sizeLimit: 5_000, maxDepth: 32 } } })
new Server({ plugins: { json: true, urlencoded: false } })
new Server({ plugins: { json: false } })
new Server([json, urlencoded({ sizeLimit: '2mb' }), json({})])
// @ts-expect-error a size is text or a number
json({ sizeLimit: true })
// @ts-expect-error no such option
json({ sizelimit: '1mb' })
// @ts-expect-error no such option
new Server({ plugins: { json: { limit: '1mb' } } })
// @ts-expect-error a depth is a number
json({ maxDepth: '32' })
// @ts-expect-error forms do not nest
urlencoded({ maxDepth: 5 })

// A body is unknown until it was checked.
new Server().post('/a', (req) => {
  // @ts-expect-error not looked at
  req.body.name
  return req.body
})

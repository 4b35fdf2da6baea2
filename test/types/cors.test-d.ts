import { type Request, Server } from 'framework'
import { type CorsOptions, cors } from 'framework/plugins/cors'
import type { Equal, Expect } from './expect.ts'

new Server({ plugins: { cors: { origin: '*' } } })
new Server({ plugins: { cors: { origin: ['https://a.test', /^https:\/\/b\.test$/], methods: 'GET,POST' } } })
new Server([cors({ origin: 'https://a.test', credentials: true, maxAge: 5, allowedHeaders: ['x-a'] })])
cors({
  origin: async (origin, req) => {
    type _origin = Expect<Equal<typeof origin, string>>
    type _req = Expect<Equal<typeof req, Request>>
    return req.path.startsWith('/public')
  },
})
new Server({
  plugins: {
    cors: {
      origin: (origin, req) => {
        type _origin = Expect<Equal<typeof origin, string>>
        type _req = Expect<Equal<typeof req, Request>>
        return true
      },
    },
  },
})
const options: CorsOptions = { origin: false, preflightContinue: true, optionsSuccessStatus: 200, exposedHeaders: 'x' }
cors(options)
// @ts-expect-error true would let everyone in without saying so
cors({ origin: true })
// @ts-expect-error a function answers with a boolean
cors({ origin: () => 'https://a.test' })
// @ts-expect-error seconds are a number
cors({ maxAge: '1h' })
// @ts-expect-error no such option
new Server({ plugins: { cors: { orgin: '*' } } })

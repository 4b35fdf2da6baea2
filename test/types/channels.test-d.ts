import { type ChannelClient, channel, router, Server } from 'framework'
import { z } from 'zod'
import type { Equal, Expect } from './expect.ts'

interface Visitor {
  user: string
}

const orders = channel('orders/:id', {
  join(client: ChannelClient<Visitor>, params) {
    type _Params = Expect<Equal<typeof params.id, string>>
    return client.data.user === params.id
  },
  // The type of the client in `join` applies to all rules.
  user(client) {
    type _Data = Expect<Equal<typeof client.data, Visitor>>
    return client.data.user
  },
  async state(client, { id }, call) {
    type _Data = Expect<Equal<typeof client.data, Visitor>>
    return { of: id, at: call.signal.aborted }
  },
  onLeave(client, params) {
    type _Left = Expect<Equal<[typeof client.data, typeof params.id], [Visitor, string]>>
  },
  message: z.object({ state: z.enum(['packed', 'sent']) }),
  publish: (client, { id }, payload) => client.data.user === id && payload.state === 'packed',
})

// On a route, whatever the channels are.
const news = channel('news', { join: () => true })
router.ws('/live', { channels: [orders, news] }, { data: (req) => ({ user: String(req.query.user) }) })

orders.publish({ id: 7 }, { state: 'sent' })
orders.publish({ id: '7' }, { state: 'packed' }, { to: { user: 'ann' }, except: '1' })
orders.remove({ id: 7 }, { user: 'ann' })
news.publish('anything')
news.publish({ any: 'thing' }, { except: '1' })
news.remove({ client: '1' })
const server = new Server({ plugins: { websocket: true, channels: true } })
orders.for(server).publish({ id: 7 }, { state: 'sent' })
news.for(server).remove({ client: '1' })
// @ts-expect-error: not in the schema
orders.for(server).publish({ id: 7 }, { state: 'lost' })

// @ts-expect-error: not in the schema
orders.publish({ id: 7 }, { state: 'lost' })
// @ts-expect-error: no such parameter
orders.publish({ order: 7 }, { state: 'sent' })
// @ts-expect-error: without values
orders.publish({ state: 'sent' })
// @ts-expect-error: a recipient is required
orders.remove({ id: 7 })
// @ts-expect-error: an empty recipient
news.publish('x', { to: {} })
// @ts-expect-error: `join` is required
channel('open', {})
// @ts-expect-error: the state comes from a function
channel('open', { join: () => true, state: { count: 1 } })
// @ts-expect-error: the channel has no such parameter
channel('open/:id', { join: () => true, onLeave: (_, { name }) => name })
// @ts-expect-error: a misspelt option
channel('open', { join: () => true, histroy: false })
// @ts-expect-error: not a channel
router.ws('/x', { channels: ['news'] }, {})

// With a type in place of a schema the names of parameters are not checked.
const typed = channel<{ price: number }>('prices/:of', { join: () => true })
typed.publish({ of: 'tea' }, { price: 1 })
// @ts-expect-error: the payload has another type
typed.publish({ of: 'tea' }, { price: '1' })

import { type ChannelClient, channel, HttpError, RouteCollection } from 'framework'

export interface Bid {
  readonly bidder: string
  readonly amount: number
  /** Counts the bids of an auction, so that clients know which of two states is newer. */
  readonly version: number
}

/** In a real application, this is a table, and its rows say who may watch an auction. */
const auctions = new Map<string, Bid>()
const secret = new Set(['private'])

const bids = channel('auctions/:id', {
  join: ({ data }: ChannelClient<{ user: string | undefined }>, { id }) => !secret.has(id) || data.user === 'ada',
  message: {
    type: 'object',
    properties: { bidder: { type: 'string' }, amount: { type: 'number' }, version: { type: 'integer' } },
    required: ['bidder', 'amount', 'version'],
  } as const,
  user: ({ data }) => data.user,
})

export const routes = new RouteCollection()

// Stands in for the session of the guide to authentication.
const userOf = (req: { headers: Record<string, string | undefined> }) => req.headers['x-user']

routes.ws('/live', { channels: [bids] }, { data: (req) => ({ user: userOf(req) }) })

routes.get('/auctions/:id', (req) => auctions.get(req.params.id) ?? { bidder: '', amount: 0, version: 0 })

const NewBid = {
  type: 'object',
  properties: { amount: { type: 'number', exclusiveMinimum: 0 } },
  required: ['amount'],
} as const

routes.post('/auctions/:id/bids', { body: NewBid }, async (req, res) => {
  const bidder = userOf(req)
  if (bidder === undefined) throw new HttpError(401)
  const { id } = req.params
  const last = auctions.get(id)
  if (last !== undefined && last.amount >= req.body.amount)
    throw new HttpError(409, { code: 'BidTooLowError', details: { last: last.amount } })
  const bid = { bidder, amount: req.body.amount, version: (last?.version ?? 0) + 1 }
  auctions.set(id, bid)
  await bids.publish({ id }, bid)
  return res.created(bid)
})

routes.post('/logout', async (req, res) => {
  const user = userOf(req)
  // A client that has joined stays in the channel until someone removes it.
  if (user !== undefined) for (const id of secret) await bids.remove({ id }, { user })
  return res.noContent()
})

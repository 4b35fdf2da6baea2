import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { RateLimitTrace } from './limiter.ts'

export const work: readonly WorkKind[] = [
  workKind<RateLimitTrace>({
    channel: 'rateLimit',
    form: 'moment',
    list: { id: 'rateLimit', title: 'Rate limits' },
    help: 'Requests that a rate limit has counted, by the limit (of the server or of the route) and what became of them',
    span: () => 'rate limit',
    note: ({ limit }) => `refused by the limit of the ${limit}`,
    labels: {
      limit: { attribute: 'framework.rate_limit.limit', of: ({ limit }) => limit },
      outcome: { attribute: 'framework.rate_limit.outcome', of: ({ accepted }) => (accepted ? 'accepted' : 'refused') },
    },
    request: ({ request }) => request,
    // Accepted requests are not worth a row, which would come with each of them.
    isNotable: ({ accepted }) => !accepted,
    metric: 'rate_limit.requests',
  }),
]
